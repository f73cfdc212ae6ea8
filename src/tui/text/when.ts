/** Time of day of a UTC timestamp in the viewer's zone, `HH:MM:SS`. */
export function clockTime(timestamp: string): string {
  const date = new Date(timestamp);
  if (Number.isNaN(date.getTime())) return '--:--:--';
  return [date.getHours(), date.getMinutes(), date.getSeconds()].map((part) => String(part).padStart(2, '0')).join(':');
}

/** Length of time in its two largest units: `42s`, `3m10s`, `2h05m`, `4d`. */
export function duration(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  if (seconds < 60) return `${seconds}s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes}m${String(seconds % 60).padStart(2, '0')}s`;
  const hours = Math.floor(minutes / 60);
  if (hours < 48) return `${hours}h${String(minutes % 60).padStart(2, '0')}m`;
  return `${Math.floor(hours / 24)}d`;
}

/** From `from` to `to` (or now), empty when it has not begun. */
export function elapsed(from: string | null, to: string | null, nowMs: number): string {
  if (from === null) return '';
  return duration((to === null ? nowMs : Date.parse(to)) - Date.parse(from));
}

/** Time until a moment: `in 3m10s`, or `over`. */
export function until(timestamp: string, nowMs: number): string {
  const left = Date.parse(timestamp) - nowMs;
  return left <= 0 ? 'over' : `in ${duration(left)}`;
}
