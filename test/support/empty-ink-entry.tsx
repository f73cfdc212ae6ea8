/** The smallest Ink program, for the ratio of the first frame. Ends with any key. */
import { render, Text } from 'ink';

const ink = render(<Text>ready</Text>);
process.stdin.once('data', () => {
  ink.unmount();
  process.stdin.pause();
});
