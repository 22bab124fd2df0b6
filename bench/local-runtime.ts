import {spawn} from 'node:child_process';
import {once} from 'node:events';
import {createInterface} from 'node:readline';

/** A local runtime in a process of its own. */
export interface LocalRuntimeProcess {
  readonly origin: string;
  readonly apiKey: string;
  stop(): Promise<void>;
}

interface ReadyLine {
  readonly origin: string;
  readonly credentials: {readonly apiKey: string};
}

/** Starts `mycli runtime:start` on a free port and waits until it is ready. */
export async function startLocalRuntimeProcess(binary: string, dataDirectory: string): Promise<LocalRuntimeProcess> {
  const child = spawn(process.execPath, [binary, 'runtime:start', '--json', '--port', '0', '--data', dataDirectory], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit');
  const lines = createInterface({input: child.stdout});
  const line = await Promise.race([once(lines, 'line'), ended.then(() => undefined)]);
  if (line === undefined) throw new Error('runtime:start ended before it was ready');
  const {origin, credentials} = JSON.parse(String(line[0])) as ReadyLine;
  return {
    origin,
    apiKey: credentials.apiKey,
    async stop() {
      child.kill('SIGTERM');
      await ended;
    },
  };
}
