import {fork, type ChildProcess} from 'node:child_process';
import {once} from 'node:events';
import {createServer} from 'node:net';
import {createInterface} from 'node:readline';
import {setTimeout as delay} from 'node:timers/promises';
import {stripVTControlCharacters} from 'node:util';
import * as v from 'valibot';

export interface AppProcessOptions {
  /** Absolute path of a file with `appProgram`. */
  readonly program: string;
  readonly entry: string;
  readonly cwd: string;
  /** Variables besides those that say where to listen. */
  readonly environment: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly onLine: (line: string) => void;
  /** Stops it, also while it starts. */
  readonly signal: AbortSignal;
}

export interface AppProcess {
  readonly port: number;
  /** Why it has ended. */
  readonly ended: Promise<AppFailure>;
}

/** How long it may take to end after SIGTERM, in milliseconds. Less than mycli itself has for its cleanup. */
const patienceMs = 500;
/** Milliseconds after its exit in which its output may still come: a program that it has started may keep it open. */
const outputMs = 250;
/** The lines, and the characters of each, that explain why it has ended. */
const [tailLines, tailWidth] = [40, 200];

const listeningSchema = v.tuple([v.object({port: v.number()})]);

/**
 * Starts the server of an app in a process, and waits until it listens. Not in a worker thread: there, a crash in a
 * native module would end the runtime too, and `process.chdir()`, `process.abort()` and signals are missing.
 * @throws AppFailure if it does not listen.
 */
export async function startApp(options: AppProcessOptions): Promise<AppProcess> {
  const {program, entry, cwd, environment, timeoutMs, onLine, signal} = options;
  const port = String(await freePort());
  const child = fork(program, [entry], {
    cwd,
    // By default it would inherit the runtime's environment, with its credentials.
    env: {NODE_ENV: 'production', ...environment, PORT: port, HOST: '127.0.0.1', HOSTNAME: '127.0.0.1'},
    // A bundle need not have a package.json that names its module type: Node detects that.
    execArgv: ['--disable-warning=MODULE_TYPELESS_PACKAGE_JSON'],
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  const tail: string[] = [];
  for (const stream of [child.stdout, child.stderr]) {
    if (stream === null) continue;
    createInterface(stream).on('line', (line) => {
      tail.push(stripVTControlCharacters(line).slice(0, tailWidth));
      if (tail.length > tailLines) tail.shift();
      onLine(line);
    });
  }
  let isListening = false;
  const ended = endOf(child).then((how) => {
    const isUnheard = how === 'exit code 0' && !isListening;
    const when = isUnheard ? ' before it listened on PORT, and exported no handler' : '';
    return new AppFailure(`ended with ${how}${when}`, tail);
  });
  const stop = (): void => {
    child.kill();
    setTimeout(() => child.kill('SIGKILL'), patienceMs).unref();
  };
  if (signal.aborted) stop();
  signal.addEventListener('abort', stop, {once: true});
  const listening = once(child, 'message').then((message) => v.parse(listeningSchema, message)[0].port);
  const outcome = await Promise.race([listening, ended, delay(timeoutMs, undefined, {ref: false})]);
  isListening = typeof outcome === 'number';
  if (typeof outcome === 'number') return {port: outcome, ended};
  if (outcome !== undefined) throw outcome;
  child.kill('SIGKILL');
  await ended;
  throw new AppFailure(`did not listen on PORT within ${String(timeoutMs / 1000)} seconds and was stopped`, tail);
}

/** Waits until a process has ended and its output is complete. How it has ended, or why it could not be started. */
async function endOf(child: ChildProcess): Promise<string> {
  const closed = once(child, 'close').catch(() => undefined);
  try {
    const [code, signal] = (await once(child, 'exit')) as [number | null, string | null];
    await Promise.race([closed, delay(outputMs)]);
    for (const stream of [child.stdout, child.stderr]) stream?.destroy();
    return signal === null ? `exit code ${String(code)}` : `signal ${signal}`;
  } catch (error) {
    return String(error);
  }
}

/** The server of an app has crashed, or did not start. The message is part of a sentence. */
export class AppFailure extends Error {
  /** The last lines that it printed. */
  readonly output: readonly string[];

  constructor(reason: string, output: readonly string[]) {
    super(reason);
    this.name = 'AppFailure';
    this.output = output;
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  return typeof address === 'object' ? (address?.port ?? 0) : 0;
}
