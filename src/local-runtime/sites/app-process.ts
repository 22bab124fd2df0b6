import {fork, type ChildProcess} from 'node:child_process';
import {once} from 'node:events';
import {createServer} from 'node:net';
import {createInterface} from 'node:readline';
import {setTimeout as delay} from 'node:timers/promises';
import {stripVTControlCharacters} from 'node:util';
import * as v from 'valibot';
import {crashLines} from './crash-lines.js';

/** How to start the server of an app. */
interface AppProcessOptions {
  /** Absolute path of a file with `appProgram`. */
  readonly program: string;
  /** Absolute path of the module to import. */
  readonly entry: string;
  /** Absolute. */
  readonly cwd: string;
  /** Variables besides those that say where to listen. */
  readonly environment: Readonly<Record<string, string>>;
  /** Milliseconds in which it must listen. */
  readonly timeoutMs: number;
  /** Called with each line that it prints. */
  readonly onLine: (line: string) => void;
  /** Stops it, also while it starts. */
  readonly signal: AbortSignal;
}

/** Maximum size of the JavaScript heap in MiB, so that a leak ends that process and not the machine. */
const heapMiB = 512;
/** How long it may take to end after SIGTERM, in milliseconds. Less than mycli itself has for its cleanup. */
const patienceMs = 500;
/** How long a process may take to answer its parent before it counts as stuck, in milliseconds. */
const aliveMs = 2000;
/** How long after its exit its output may still come, in milliseconds. Its requests wait for less than a second. */
const outputMs = 250;
const maxLine = 8192;
/** Number of lines that explain a crash. */
const tailLines = 40;

const listeningSchema = v.object({port: v.number()});

/**
 * A process that runs the server of an app. Not a worker thread: there, a crash in a native module would end the
 * runtime too, and `process.chdir()`, `process.abort()` and signals are missing.
 */
export class AppProcess {
  readonly #child: ChildProcess;
  readonly #tail: string[] = [];
  /** Why it has ended, as part of a sentence. */
  readonly ended: Promise<string>;
  #reason: string | undefined;
  /** 0 before it listens. */
  #port = 0;

  private constructor(child: ChildProcess, onLine: (line: string) => void) {
    this.#child = child;
    for (const stream of [child.stdout, child.stderr]) {
      if (stream === null) continue;
      createInterface(stream).on('line', (text) => {
        const line = text.slice(0, maxLine);
        this.#tail.push(plain(line));
        if (this.#tail.length > tailLines) this.#tail.shift();
        onLine(line);
      });
    }
    // Programs that it has started may have its output, too, and outlive it.
    child.once('exit', () => {
      const timer = setTimeout(() => {
        for (const stream of [child.stdout, child.stderr]) stream?.destroy();
      }, outputMs);
      child.once('close', () => {
        clearTimeout(timer);
      });
    });
    // Its output is complete when it is closed, which is later than its exit.
    this.ended = new Promise((resolve) => {
      child.on('error', (error) => {
        resolve((this.#reason ??= `could not be started: ${error.message}`));
      });
      child.once('close', (code, signal) => {
        const how = signal === null ? `exit code ${String(code)}` : `signal ${signal}`;
        const isUnheard = code === 0 && this.#port === 0;
        const when = isUnheard ? ' before it listened on PORT, and exported no handler' : '';
        resolve((this.#reason ??= `ended with ${how}${when}`));
      });
    });
  }

  /**
   * Starts a server, and waits until it listens.
   * @throws AppFailure if it does not.
   */
  static async start(options: AppProcessOptions): Promise<AppProcess> {
    const app = await AppProcess.#fork(options);
    await app.#listening(options.timeoutMs);
    return app;
  }

  static async #fork({program, entry, cwd, environment, onLine, signal}: AppProcessOptions): Promise<AppProcess> {
    const port = await freePort();
    const child = fork(program, [entry], {
      cwd,
      // By default it would inherit the runtime's environment, with its credentials.
      env: {NODE_ENV: 'production', ...environment, PORT: String(port), HOST: '127.0.0.1', HOSTNAME: '127.0.0.1'},
      execArgv: [
        `--max-old-space-size=${String(heapMiB)}`,
        // A bundle need not have a package.json that names its module type: Node detects that.
        '--disable-warning=MODULE_TYPELESS_PACKAGE_JSON',
      ],
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    });
    const app = new AppProcess(child, onLine);
    const stop = (): void => void app.#stop();
    if (signal.aborted) stop();
    signal.addEventListener('abort', stop, {once: true});
    return app;
  }

  /** Waits until it listens. @throws AppFailure if it does not. */
  async #listening(timeoutMs: number): Promise<void> {
    const listening = new Promise<number>((resolve) => {
      this.#child.on('message', (message) => {
        const told = v.safeParse(listeningSchema, message);
        if (told.success) resolve(told.output.port);
      });
    });
    const seconds = String(timeoutMs / 1000);
    const timer = setTimeout(() => {
      this.kill(`did not listen on PORT within ${seconds} seconds and was stopped`);
    }, timeoutMs);
    try {
      const outcome = await Promise.race([listening, this.ended]);
      if (typeof outcome === 'string') throw this.failure(outcome);
      this.#port = outcome;
    } finally {
      clearTimeout(timer);
    }
  }

  /** Where it listens, on loopback. */
  get port(): number {
    return this.#port;
  }

  /** The failure to report once it has ended, with what it printed last. */
  failure(reason: string): AppFailure {
    return new AppFailure(reason, crashLines(this.#tail));
  }

  /** Whether its event loop runs. An infinite loop blocks it. */
  async isAlive(): Promise<boolean> {
    const waiting = new AbortController();
    const answered = once(this.#child, 'message', {signal: waiting.signal}).then(
      () => true,
      () => false,
    );
    this.#child.send('are you alive?', () => undefined);
    const late = delay(aliveMs, false, {signal: waiting.signal}).catch(() => false);
    const result = await Promise.race([answered, late, this.ended.then(() => false)]);
    waiting.abort();
    return result;
  }

  /** Ends it at once, for a reason that is part of a sentence. */
  kill(reason: string): void {
    this.#reason ??= reason;
    this.#child.kill('SIGKILL');
  }

  async #stop(): Promise<void> {
    this.#reason ??= 'was stopped';
    this.#child.kill('SIGTERM');
    const timer = setTimeout(() => this.#child.kill('SIGKILL'), patienceMs);
    await this.ended;
    clearTimeout(timer);
  }
}

/** The server of an app has crashed, or did not start. */
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

/** A line without colors and whatever else a terminal would obey. */
function plain(line: string): string {
  return stripVTControlCharacters(line).replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, '');
}
