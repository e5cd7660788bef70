"""Cron expressions in a time zone, with a rule for the days on which its clock changes.

An expression has five fields (minute, hour, day of month, month, day of week) as Debian's cron reads them, with names,
ranges, steps, `L`, `LW` and `#`; or it is one of the `@` words.

- If the hour field leaves hours out, a slot is the first moment at which the clock has reached its time. So each local
  day has it once: a time that is left out comes at the first moment after the gap, one that comes twice counts the
  first time. Of several that fall on one moment one is left; a day that a zone left out whole has none.
- If the hour field means every hour, a slot is every moment at which the clock reads its minute, so `*/30 * * * *` is
  half an hour of elapsed time all year.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo

from hearth.engine.timetable import END_MS, Timetable
from hearth.errors import InvalidInput, invalid

LENGTH_MOST = 256  # characters of an expression

FIELDS = {
    "minute": "0-59",
    "hour": "0-23",
    "day of month": "1-31, L or LW",
    "month": "1-12 or JAN-DEC",
    "day of week": "0-7 or SUN-SAT, also 5L or MON#1",
}
WORDS = {
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
    "@monthly": "0 0 1 * *",
    "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@hourly": "0 * * * *",
}

_EPOCH = datetime(1970, 1, 1)
_SECOND = timedelta(seconds=1)
_DAY = timedelta(days=1)
_STEP = timedelta(days=5)  # two changes of one clock lie closer in no zone: Gaza had them within a week


@dataclass(frozen=True, slots=True)
class Cron(Timetable):
    """A cron expression, read on the clock of a zone."""

    expression: str
    zone: tzinfo
    hourly: bool

    @classmethod
    def of(cls, expression: str, zone: str) -> Cron:
        """Raises `InvalidInput` that names the field, for a part that is wrong or a day that never comes."""
        plain = _five_fields(expression)
        for name, word in zip(FIELDS, plain.split(), strict=True):
            _check_field(name, word)
        return cls(plain, zone_named(zone), _is_hourly(plain))

    def next_after(self, ms: int) -> int | None:
        if ms >= END_MS:
            return None
        moment = _moment(max(ms, -1))
        found = self._next_read(moment) if self.hourly else self._next_reached(moment)
        return _ms(found)

    def last_upto(self, ms: int) -> int | None:
        if ms < 0:
            return None
        moment = _moment(min(ms, END_MS - 1))
        found = self._last_read(moment) if self.hourly else self._last_reached(moment)
        return _ms(found)

    def _next_reached(self, moment: datetime) -> datetime | None:
        local = moment + self._offset(moment)
        while (local_next := _following(self.expression, local)) is not None:
            found = self._reached(local_next)
            if found is not None and found > moment:
                return found
            local = local_next
        return None

    def _last_reached(self, moment: datetime) -> datetime | None:
        # In an hour that comes twice the clock has been ahead of what it reads.
        local: datetime | None = moment + self._offset(moment, first=True)
        while local is not None and (local := _preceding(self.expression, local)) is not None:
            found = self._reached(local)
            if found is not None and found <= moment:
                return found
            local -= _SECOND
        return None

    def _reached(self, local: datetime) -> datetime | None:
        """The first moment at which the clock has reached `local`; None on a day that the zone left out whole."""
        before, after = (local.replace(tzinfo=self.zone, fold=fold).utcoffset() or timedelta() for fold in (0, 1))
        if after <= before:
            return local - before
        return self._change(local - after, local - before) if after - before < _DAY else None

    def _next_read(self, moment: datetime) -> datetime | None:
        while True:
            start = moment + _SECOND
            offset = self._offset(start)
            local = _following(self.expression, moment + offset)
            if local is None:
                return None
            change = self._first_change(start, local - offset)
            if change is None:
                return local - offset
            moment = change - _SECOND

    def _last_read(self, moment: datetime) -> datetime | None:
        while True:
            offset = self._offset(moment)
            local = _preceding(self.expression, moment + offset)
            if local is None:
                return None
            change = self._last_change(local - offset, moment)
            if change is None:
                return local - offset
            moment = change - _SECOND

    def _offset(self, moment: datetime, *, first: bool = False) -> timedelta:
        """What the clock is ahead of UTC; in an hour that comes twice perhaps what it was the first time."""
        local = moment.replace(tzinfo=UTC).astimezone(self.zone)
        return (local.replace(fold=0) if first else local).utcoffset() or timedelta()

    def _first_change(self, start: datetime, end: datetime) -> datetime | None:
        """The first moment later than `start`, not later than `end`, at which the clock was changed."""
        while start < end:
            step = min(start + _STEP, end)
            if self._offset(start) != self._offset(step):
                return self._change(start, step)
            start = step
        return None

    def _last_change(self, start: datetime, end: datetime) -> datetime | None:
        while start < end:
            step = max(end - _STEP, start)
            if self._offset(step) != self._offset(end):
                return self._change(step, end)
            end = step
        return None

    def _change(self, low: datetime, high: datetime) -> datetime:
        """The one moment later than `low`, not later than `high`, at which the clock was changed, to the second."""
        offset = self._offset(low)
        while high - low > _SECOND:
            middle = low + (high - low) // _SECOND // 2 * _SECOND
            low, high = (middle, high) if self._offset(middle) == offset else (low, middle)
        return high


def _five_fields(expression: str) -> str:
    """The expression in five upper-case words, whether it was an `@` word or not."""
    words = expression.split()
    if len(expression) > LENGTH_MOST:
        raise invalid("cron", "too_long", f"is longer than {LENGTH_MOST} characters")
    if len(words) == 1 and words[0].startswith("@"):
        return _meant(words[0])
    if len(words) == 6:
        message = "has 6 fields; it takes 5, from minute to day of week, without seconds or a zone"
        raise invalid("cron", "wrong_form", message, hint="for seconds, give an interval in place of cron")
    if len(words) != 5:
        raise invalid("cron", "wrong_form", f"has {len(words)} fields; it takes 5: {', '.join(FIELDS)}")
    return " ".join(words).upper()


def _meant(word: str) -> str:
    if word.lower() in WORDS:
        return WORDS[word.lower()]
    raise invalid("cron", "wrong_form", f"{word} is not known; the words are {', '.join(WORDS)}")


def _check_field(name: str, word: str) -> None:
    from cronsim import CronSim, CronSimError

    alone = " ".join(word if name == each else "*" for each in FIELDS)
    try:
        CronSim(alone, _EPOCH)
    except CronSimError as error:
        raise invalid("cron", "wrong_form", f"{name}: {word!r} is not understood; it takes {FIELDS[name]}") from error


def _is_hourly(expression: str) -> bool:
    """Whether the hour field means every hour. Raises `InvalidInput` for a date that never comes."""
    from cronsim import CronSim, CronSimError

    try:
        simulation = CronSim(expression, _EPOCH)
        next(simulation)
    except (CronSimError, StopIteration):
        raise invalid("cron", "never", "no year has a day that fits day of month, month and day of week") from None
    return len(simulation.hours) == 24


def _following(expression: str, local: datetime) -> datetime | None:
    """The first time later than `local` that fits, on a clock that never changes; None if 50 years have none."""
    from cronsim import CronSim

    try:
        return next(CronSim(expression, local), None)
    except OverflowError:  # the calendar ends
        return None


def _preceding(expression: str, local: datetime) -> datetime | None:
    """The last time not later than `local` that fits, within 50 years."""
    from cronsim import CronSim

    return next(CronSim(expression, local.replace(microsecond=0) + _SECOND, reverse=True), None)


def _moment(ms: int) -> datetime:
    """UTC without a zone, and down to the second: slots are whole minutes."""
    return _EPOCH + timedelta(seconds=ms // 1_000)


def _ms(moment: datetime | None) -> int | None:
    """None for what lies outside the years that have slots."""
    ms = None if moment is None else (moment - _EPOCH) // timedelta(milliseconds=1)
    return ms if ms is not None and 0 <= ms < END_MS else None


def zone_named(name: str) -> tzinfo:
    """The zone of that IANA name. Raises `InvalidInput`, with the name that was probably meant."""
    if name == "UTC":
        return UTC  # is known without a zone database
    from zoneinfo import ZoneInfo

    try:
        if name.startswith(("posix/", "right/")):  # copies that some systems keep; `right` counts leap seconds
            raise ValueError(name)
        return ZoneInfo(name)
    except (LookupError, ValueError, OSError):
        raise _unknown_zone(name) from None


def _unknown_zone(name: str) -> InvalidInput:
    from zoneinfo import available_timezones

    known = available_timezones()
    if not known:
        hint = "this system has no time zone data, so only UTC is known: pip install tzdata"
        return invalid("zone", "unknown_zone", f"{name!r} is not known", hint=hint)
    near = _near(name, known)
    return invalid(
        "zone", "unknown_zone", f"{name!r} is no IANA time zone" + (f"; did you mean {near}?" if near else "")
    )


def _near(name: str, known: set[str]) -> str | None:
    """The zone of the city of that name, or the one that is spelled most alike."""
    from difflib import get_close_matches

    folded = {zone.casefold(): zone for zone in known}
    cities = {city.rpartition("/")[2]: zone for city, zone in sorted(folded.items())}
    city = name.casefold().replace(" ", "_").rpartition("/")[2]
    return cities.get(city) or next((folded[each] for each in get_close_matches(name.casefold(), folded, 1)), None)
