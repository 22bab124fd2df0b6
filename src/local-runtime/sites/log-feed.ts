import {EventEmitter} from 'node:events';
import {sitePath, type SiteName} from './site-address.js';

/** What the server of an app prints to stderr counts as errors. */
export type LogLevel = 'INFO' | 'ERROR';

interface LogLine {
  readonly time: string;
  readonly level: LogLevel;
  readonly line: string;
}

/** What the servers of apps print, for whoever follows it. */
export class LogFeed {
  readonly #lines = new EventEmitter().setMaxListeners(0);

  add(site: SiteName, {time, level, line}: LogLine): void {
    this.#lines.emit(sitePath(site), `${time}\t\t${level}\t${line}`);
  }

  /** Calls `listener` with each line from now on. Returns a function that ends that. */
  follow(site: SiteName, listener: (line: string) => void): () => void {
    this.#lines.on(sitePath(site), listener);
    return () => void this.#lines.off(sitePath(site), listener);
  }
}
