"""`python -m hearth`, and the console script."""

import gc
import sys


def main() -> None:
    if sys.argv[1:] == ["--version"]:  # answered before anything heavy is imported
        from hearth import __version__

        try:
            sys.stdout.write(f"hearth {__version__}\n")
            sys.stdout.flush()
            return
        except (AttributeError, OSError):  # closed or full, which the command tells or bears
            pass
    # A short run leaves little garbage in cycles: looking for it took a tenth of the time of a command, at the start
    # and again at the end, where what is left need not be looked at.
    gc.set_threshold(50_000, 20, 20)
    try:
        from hearth.cli.app import run

        status = run()
    except KeyboardInterrupt:  # before the command, or behind it
        status = 130
    gc.freeze()
    # Windows' codes have 32 bits without a sign, and some releases of Python take only what fits a signed number.
    sys.exit(status if status < 1 << 31 else status - (1 << 32))


if __name__ == "__main__":
    main()
