import {afterAll, beforeAll} from 'vitest';

const warnings: Error[] = [];
const keep = (warning: Error) => {
  if (warning.name.endsWith('Warning')) warnings.push(warning);
};

// Fails the file during which Node warned, as of a leak of listeners or of something that it will drop.
beforeAll(() => void process.on('warning', keep));
afterAll(async () => {
  // Node hands a warning over in the next tick.
  await new Promise((resolve) => setImmediate(resolve));
  process.off('warning', keep);
  const [first] = warnings.splice(0);
  if (first !== undefined) throw first;
});
