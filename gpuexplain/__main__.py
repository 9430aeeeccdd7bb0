"""``python -m gpuexplain``."""

from gpuexplain.cli import main

if __name__ == "__main__":
    main()
