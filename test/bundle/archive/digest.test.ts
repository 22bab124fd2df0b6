import {execFileSync} from 'node:child_process';
import {createHash} from 'node:crypto';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {expect, onTestFinished, test} from 'vitest';
import {ThreadDigest} from '../../../src/bundle/archive/digest.js';
import {makeFolder} from '../project.js';

function start(): ThreadDigest {
  const digest = new ThreadDigest();
  onTestFinished(() => digest.end());
  return digest;
}

function shared(text: string): Buffer {
  const chunk = Buffer.from(new SharedArrayBuffer(text.length));
  chunk.write(text);
  return chunk;
}

test('hashes chunks in their order, as the digest of one thread does', async () => {
  const digest = start();
  const expected = createHash('sha256');
  const hashed = Array.from({length: 50}, (_, index) => {
    const text = `chunk ${index}`;
    expected.update(text);
    return digest.update(shared(text));
  });
  expect(await digest.hex()).toBe(expected.digest('hex'));
  await Promise.all(hashed);
  expect(digest.size).toBe(50 * 'chunk '.length + 90);
});

test('a chunk may be filled anew when it was hashed', async () => {
  const digest = start();
  const chunk = shared('one');
  await digest.update(chunk);
  chunk.write('two');
  await digest.update(chunk.subarray(0, 2));
  expect(await digest.hex()).toBe(createHash('sha256').update('onetw').digest('hex'));
});

test('a thread that fails answers nothing, to what waits for it and to all that is asked of it later', async () => {
  const digest = start();
  const number = digest.update(1 as unknown as Buffer);
  const waiting = digest.hex();
  await number;
  expect(await waiting).toBeUndefined();
  await digest.update(shared('x'));
  expect(await digest.hex()).toBeUndefined();
});

test('keeps no process alive that asks nothing of it any more', async () => {
  const module = JSON.stringify(join(import.meta.dirname, '../../../src/bundle/archive/digest.ts'));
  const script = `
    import {ThreadDigest} from ${module};
    await new ThreadDigest().update(Buffer.from(new SharedArrayBuffer(3)));
    console.log('hashed');`;
  const file = join(await makeFolder({'script.mts': script}), 'script.mts');
  const jiti = fileURLToPath(new URL('./jiti-cli.mjs', import.meta.resolve('jiti')));
  expect(execFileSync(process.execPath, [jiti, file], {timeout: 200_000}).toString()).toBe('hashed\n');
});
