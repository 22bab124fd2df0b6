import type {ArchiveInspection} from '../../operations/inspect-bundle.js';
import type {Store} from '../store/store.js';
import type {BundleRecord} from '../store/records.js';

/** How many bundles are kept in memory: enough to compare two. Each may have 200,000 files. */
const kept = 2;

/** Reads bundles for pages. A bundle never changes, so a page that is loaded again finds it read. */
export class BundleReader {
  readonly #store: Store;
  readonly #read = new Map<number, Promise<ArchiveInspection>>();

  constructor(store: Store) {
    this.#store = store;
  }

  async inspect(bundle: BundleRecord): Promise<ArchiveInspection> {
    const reading = this.#read.get(bundle.id) ?? this.#inspect(bundle);
    // The bundle used last is forgotten last.
    this.#read.delete(bundle.id);
    this.#read.set(bundle.id, reading);
    for (const id of [...this.#read.keys()].slice(0, -kept)) this.#read.delete(id);
    try {
      return await reading;
    } catch (error) {
      this.#read.delete(bundle.id);
      throw error;
    }
  }

  async #inspect({id, format}: BundleRecord): Promise<ArchiveInspection> {
    const {inspectFile} = await import('../../operations/inspect-bundle.js');
    const {root, configPath, served, shared} = await this.#store.contents(id);
    const inspection = await inspectFile(this.#store.archivePath(id), {rootDir: root, configPath});
    if (format === 'v2' || inspection.config !== undefined) return inspection;
    // A v1 archive does not contain its categories; its upload named them.
    const [isServed, isShared] = [new Set(served), new Set(shared)];
    const categoryOf = (path: string) => {
      if (!isServed.has(path)) return 'ssrOnly';
      return isShared.has(path) ? 'shared' : 'static';
    };
    return {...inspection, files: inspection.files.map((file) => ({...file, category: categoryOf(file.path)}))};
  }
}
