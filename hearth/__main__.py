"""`python -m hearth`, and the console script."""

import sys


def main() -> None:
    if sys.argv[1:] == ["--version"]:  # answered before anything heavy is imported
        from hearth import __version__

        sys.stdout.write(f"hearth {__version__}\n")
        return
    try:
        from hearth.cli.app import run

        status = run()
    except KeyboardInterrupt:  # before the command, or behind it
        status = 130
    sys.exit(status)


if __name__ == "__main__":
    main()
