import {spawn} from 'node:child_process';
import {once} from 'node:events';
import path from 'node:path';
import {createInterface} from 'node:readline';

/** A server in a process of its own that takes everything and keeps nothing. */
export interface Sink {
  readonly origin: string;
  stop(): Promise<void>;
}

/** Starts `sink-server.js` and waits until it is ready. */
export async function startSink(): Promise<Sink> {
  const child = spawn(process.execPath, [path.join(import.meta.dirname, 'sink-server.js')], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit');
  const lines = createInterface({input: child.stdout});
  const line = await Promise.race([once(lines, 'line'), ended.then(() => undefined)]);
  if (line === undefined) throw new Error('the sink ended before it was ready');
  return {
    origin: String(line[0]),
    async stop() {
      child.kill('SIGTERM');
      await ended;
    },
  };
}
