import { family as egress } from './egress.ts';
import type { VectorFamily } from './family.ts';
import { family as patches } from './patches.ts';
import { family as paths } from './paths.ts';
import { family as tar } from './tar.ts';

/** Every family that is run, in the order in which it is reported. */
export const FAMILIES: readonly VectorFamily[] = [paths, tar, patches, egress];
