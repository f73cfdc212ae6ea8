/** Exit code of a process that was asked to stop: the entry gives it as the signal's reason; else 130 (SIGINT). */
export function interruptExit(signal: AbortSignal): number {
  return typeof signal.reason === 'number' ? signal.reason : 130;
}
