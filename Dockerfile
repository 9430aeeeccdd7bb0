# GPU Explain. For an NVIDIA GPU run with `--gpus all` (NVIDIA container toolkit); without one it measures the CPU.
FROM python:3.11-slim

RUN useradd --create-home --uid 10001 gpuexplain \
    && mkdir -p /srv/gpuexplain /data \
    && chown gpuexplain /data
WORKDIR /srv/gpuexplain

COPY requirements.txt .
RUN pip install --no-cache-dir -r requirements.txt

COPY app.py pyproject.toml ./
COPY .streamlit .streamlit
COPY pages pages
COPY gpuexplain gpuexplain

ENV GPUEXPLAIN_HOME=/data
VOLUME /data
USER gpuexplain
EXPOSE 8501
HEALTHCHECK --interval=30s --timeout=5s --start-period=20s \
    CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8501/api/live', timeout=4)"]
CMD ["streamlit", "run", "app.py", "--server.address", "0.0.0.0", "--server.port", "8501", "--server.headless", "true"]
