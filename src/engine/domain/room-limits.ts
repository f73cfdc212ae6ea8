/** Bounds of one number of the `sandbox:` configuration block. All inclusive. */
export interface LimitBounds {
  /** Key in the configuration file. */
  readonly key: string;
  readonly unit: 'MiB' | 'CPUs' | 'processes' | 'files';
  readonly default: number;
  readonly min: number;
  /** Above it a mistake is more likely than a need; one room must not be able to starve the machine. */
  readonly max: number;
  readonly integer: boolean;
}

/** The numbers of a room: what they are called, their defaults and their ceilings. The configuration schema uses the same. */
export const ROOM_LIMITS = {
  memoryMiB: { key: 'memory_mib', unit: 'MiB', default: 2048, min: 64, max: 65_536, integer: true },
  cpus: { key: 'cpus', unit: 'CPUs', default: 2, min: 0.1, max: 64, integer: false },
  pids: { key: 'pids', unit: 'processes', default: 256, min: 32, max: 4096, integer: true },
  nofile: { key: 'nofile', unit: 'files', default: 4096, min: 256, max: 65_536, integer: true },
  shmMiB: { key: 'shm_mib', unit: 'MiB', default: 16, min: 1, max: 1024, integer: true },
  workspaceMiB: { key: 'workspace_mib', unit: 'MiB', default: 1024, min: 16, max: 16_384, integer: true },
  tempMiB: { key: 'temp_mib', unit: 'MiB', default: 512, min: 16, max: 16_384, integer: true },
  homeMiB: { key: 'home_mib', unit: 'MiB', default: 256, min: 16, max: 8192, integer: true },
} as const satisfies Record<string, LimitBounds>;

type RoomLimitName = keyof typeof ROOM_LIMITS;
type RoomNumbers = Readonly<Record<RoomLimitName, number>>;

export const DEFAULT_ROOM_LIMITS: RoomNumbers = {
  memoryMiB: ROOM_LIMITS.memoryMiB.default,
  cpus: ROOM_LIMITS.cpus.default,
  pids: ROOM_LIMITS.pids.default,
  nofile: ROOM_LIMITS.nofile.default,
  shmMiB: ROOM_LIMITS.shmMiB.default,
  workspaceMiB: ROOM_LIMITS.workspaceMiB.default,
  tempMiB: ROOM_LIMITS.tempMiB.default,
  homeMiB: ROOM_LIMITS.homeMiB.default,
};

/** One sentence per number that is out of bounds, naming the configuration key and the range; empty when all are in. */
export function roomLimitProblems(limits: RoomNumbers): readonly string[] {
  const names = Object.keys(ROOM_LIMITS) as RoomLimitName[];
  return names.flatMap((name) => {
    const bounds: LimitBounds = ROOM_LIMITS[name];
    const value = limits[name];
    const fits = value >= bounds.min && value <= bounds.max && (!bounds.integer || Number.isInteger(value));
    if (fits) return [];
    const kind = bounds.integer ? 'a whole number' : 'a number';
    return [
      `sandbox.${bounds.key} must be ${kind} of ${bounds.unit} from ${bounds.min} to ${bounds.max}, not ${value}`,
    ];
  });
}
