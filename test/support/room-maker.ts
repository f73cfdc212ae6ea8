import { setInterval } from 'node:timers';
import { testLabels, testRoomSpec, testRuntime } from './container.ts';
import { must, sh } from './room.ts';

/** Program of its own, to be killed: makes a room, works in it, says so on stdout and stays. Arguments: project, source, image. */
const [project = '', source = '', imageId = ''] = process.argv.slice(2);
const image = { reference: imageId, imageId, sizeBytes: 0 };
const labels = testLabels(project);
const room = must(
  await testRuntime().createRoom(testRoomSpec(project, image, source, { labels }), AbortSignal.timeout(60_000)),
);
await sh(room, 'echo half done > work.txt');
process.stdout.write('ready\n');
setInterval(() => {}, 1000);
