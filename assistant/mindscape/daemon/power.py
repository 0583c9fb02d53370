"""Whether the computer runs on its battery."""

from __future__ import annotations

from pathlib import Path

SUPPLIES = Path("/sys/class/power_supply")


def on_battery(supplies: Path = SUPPLIES) -> bool:
    """True only where that is certain: a desktop, a server or a container is never on battery.

    Linux is read here, because psutil takes the battery of a wireless mouse for the computer's.
    """
    if not supplies.is_dir():
        import psutil

        battery = psutil.sensors_battery() if hasattr(psutil, "sensors_battery") else None
        return battery is not None and battery.power_plugged is False
    discharging = False
    for supply in supplies.iterdir():
        if _read(supply / "type") != "Battery":
            if _read(supply / "online") == "1":
                return False
        elif _read(supply / "scope") != "Device":
            discharging |= _read(supply / "status") == "Discharging"
    return discharging


def _read(file: Path) -> str:
    """A field of a supply, empty where there is none: drivers come and go, and not all have every field."""
    try:
        return file.read_text().strip()
    except OSError:
        return ""
