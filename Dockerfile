# GPU Explain. It measures the CPU as it stands. For NVIDIA GPUs install the driver and the NVIDIA container toolkit
# on the host and run with `--gpus all`; torch's wheel brings CUDA itself, so no CUDA base image is needed.
# deploy/try-in-clean-root runs these steps in a bare Debian where no Docker is at hand.
FROM python:3.11-slim-bookworm

RUN useradd --create-home --uid 10001 gpuexplain \
    && mkdir -p /srv/gpuexplain /data /lock \
    && chown 10001:10001 /data \
    && chmod 1777 /lock
WORKDIR /srv/gpuexplain

# Locked versions, signing in included, before the code: this layer changes only with the lock file.
# For torch without CUDA (about 5 GB less) name the index of its CPU wheels: --build-arg PIP_EXTRA_INDEX_URL=...
ARG PIP_EXTRA_INDEX_URL
COPY requirements-auth.txt ./
RUN pip install --no-cache-dir -r requirements-auth.txt

COPY app.py LICENSE ./
COPY .streamlit/config.toml .streamlit/
COPY pages pages
COPY gpuexplain gpuexplain
COPY deploy/healthcheck.py deploy/back_up.py deploy/
# The user who runs it cannot write here: compile now, or every start would.
RUN python -m compileall -q app.py pages gpuexplain

ENV GPUEXPLAIN_HOME=/data \
    GPUEXPLAIN_LOCK_DIR=/lock \
    PYTHONUNBUFFERED=1
VOLUME ["/data", "/lock"]
USER 10001
EXPOSE 8501
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=10s --start-period=60s --retries=3 \
    CMD ["python", "deploy/healthcheck.py"]
CMD ["streamlit", "run", "app.py", "--server.address", "0.0.0.0", "--server.port", "8501"]
