import {EventEmitter} from 'node:events';
import {sitePath, type SiteName} from './site-address.js';

/** What the server of an app prints to stderr counts as errors. */
export type LogLevel = 'INFO' | 'ERROR';

/** How many lines of each target are kept. */
const mostKept = 100;

/** What the servers of apps print, for whoever follows it. */
export class LogFeed {
  readonly #lines = new EventEmitter().setMaxListeners(0);
  readonly #last = new Map<string, readonly string[]>();

  add(site: SiteName, time: string, level: LogLevel, line: string): void {
    const text = `${time}\t\t${level}\t${line}`;
    this.#last.set(sitePath(site), [...this.last(site), text].slice(-mostKept));
    this.#lines.emit(sitePath(site), text);
  }

  /** The last lines of a target, the newest last: `TIME TAB TAB LEVEL TAB TEXT`. */
  last(site: SiteName): readonly string[] {
    return this.#last.get(sitePath(site)) ?? [];
  }

  /** Calls `listener` with the last lines, and each line from now on. Returns a function that ends that. */
  follow(site: SiteName, listener: (line: string) => void): () => void {
    this.last(site).forEach(listener);
    this.#lines.on(sitePath(site), listener);
    return () => void this.#lines.off(sitePath(site), listener);
  }
}
