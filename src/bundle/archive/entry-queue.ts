import type {EntryData, TarArchive} from 'archiver';
import type {Stats} from 'node:fs';
import type {Readable, Writable} from 'node:stream';

/** Hands entries to the archive library, the same way for every file, and knows how many it has written. */
export class EntryQueue {
  readonly #archive: TarArchive;
  readonly #destination: Writable;
  readonly #modifiedAt: Date;
  #appended = 0;
  #written = 0;
  #wake: () => void = () => undefined;

  /** @param destination Where the archive goes: when it is closed, nobody waits for room any more. */
  constructor(archive: TarArchive, destination: Writable, modifiedAt: Date) {
    this.#archive = archive;
    this.#destination = destination;
    this.#modifiedAt = modifiedAt;
    archive.on('entry', () => {
      this.#written += 1;
      this.#wake();
    });
    destination.once('close', () => {
      this.#wake();
    });
  }

  /** Entries that were written. */
  get written(): number {
    return this.#written;
  }

  /** Waits until fewer than `limit` entries wait to be written, or the destination is gone. */
  async room(limit: number): Promise<void> {
    while (!this.#destination.destroyed && this.#appended - this.#written >= limit) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  /** Appends a file. A stream needs `stats`, whose size is that of the entry. */
  append(name: string, content: Buffer | Readable, file: {readonly executable: boolean; readonly stats?: Stats}): void {
    const mode = file.executable ? 0o755 : 0o644;
    this.#append(content, {name, mode, date: this.#modifiedAt, ...(file.stats && {stats: file.stats})});
  }

  /** Appends a symbolic link. The library's own `symlink()` takes no date and rewrites backslashes. */
  appendLink(name: string, target: string): void {
    const data = {name, mode: 0o755, date: this.#modifiedAt, type: 'symlink' as const, linkname: target};
    this.#append('', data);
  }

  #append(content: Buffer | Readable | string, data: EntryData): void {
    this.#appended += 1;
    this.#archive.append(content, data);
  }
}
