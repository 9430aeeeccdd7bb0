# GPU Explain. It measures the CPU as it stands. For NVIDIA GPUs install the driver and the NVIDIA container toolkit
# on the host and run with `--gpus all`; torch's wheel brings CUDA itself, so no CUDA base image is needed.
FROM python:3.11-slim

RUN useradd --create-home --uid 10001 gpuexplain \
    && mkdir -p /srv/gpuexplain /data \
    && chown 10001:10001 /data
WORKDIR /srv/gpuexplain

# Locked versions, before the code: this layer changes only with the lock file.
COPY requirements.txt .
RUN pip install --no-cache-dir -r requirements.txt

COPY app.py ./
COPY .streamlit .streamlit
COPY pages pages
COPY gpuexplain gpuexplain

ENV GPUEXPLAIN_HOME=/data
VOLUME /data
USER 10001
EXPOSE 8501
HEALTHCHECK --interval=30s --timeout=5s --start-period=20s \
    CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8501/api/live', timeout=4)"]
CMD ["streamlit", "run", "app.py", "--server.address", "0.0.0.0", "--server.port", "8501", "--server.headless", "true"]
