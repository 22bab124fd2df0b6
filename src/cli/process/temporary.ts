import type {TemporaryDirectory} from '../../files/temporary-directory.js';

/** The temporary folders of this process, so that none is left behind however it ends. */
export class TemporaryDirectories {
  readonly #directories = new Set<TemporaryDirectory>();
  readonly #parent: string;
  readonly #pid: number;

  /** @param parent folder that they are made in. */
  constructor(parent: string, pid: number) {
    this.#parent = parent;
    this.#pid = pid;
  }

  /** Makes a private folder, after removing what killed runs left. Whoever asks for it removes it. */
  async create(): Promise<TemporaryDirectory> {
    const {createTemporaryDirectory, sweepTemporaryDirectories} = await import('../../files/temporary-directory.js');
    await sweepTemporaryDirectories(this.#parent);
    const directory = await createTemporaryDirectory(this.#parent, this.#pid);
    this.#directories.add(directory);
    return directory;
  }

  /** Removes those that are left, at once: the process is about to end. */
  removeAllSync(): void {
    for (const directory of this.#directories) {
      try {
        directory.removeSync();
      } catch {
        // The process has to end, and the next one sweeps.
      }
    }
    this.#directories.clear();
  }
}
