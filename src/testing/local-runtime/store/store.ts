import {randomUUID} from 'node:crypto';
import {mkdir, readdir, readFile, rm} from 'node:fs/promises';
import path from 'node:path';
import * as v from 'valibot';
import {createError} from '../../../errors/index.js';
import {moveIntoPlace, writeJsonFile} from './durable-files.js';
import {
  bundleContentsSchema,
  bundleRecordSchema,
  deploymentRecordSchema,
  type BundleContents,
  type BundleRecord,
  type DeploymentRecord,
} from './records.js';

/** What a bundle is made of, before it has an id. */
export type NewBundle = Omit<BundleRecord, 'id' | 'deletedAt'>;

/** What a deployment is made of, before it has a number. */
export type NewDeployment = Omit<DeploymentRecord, 'number'>;

/**
 * What a runtime keeps, in one folder:
 *
 * ```
 * credentials.json
 * bundles/{id}/{bundle.json,contents.json,archive}
 * deployments/{number}.json
 * sites/{deploymentId}/      the files that a deployment serves
 * temporary/                 uploads under way; emptied at the start
 * lock-{pid}-{start}         of the runtime that has the folder
 * ```
 *
 * Everything arrives in its place by a rename, whole and synced: what was accepted survives a kill -9.
 */
export class Store {
  readonly #folder: string;
  readonly #bundles = new Map<number, BundleRecord>();
  #deployments: readonly DeploymentRecord[] = [];
  #lastBundleId = 0;
  #lastDeployment = 0;

  private constructor(folder: string) {
    this.#folder = folder;
  }

  /**
   * Opens the store in `folder`, which is made when it is missing, and sweeps what a run that was killed left half done.
   * @throws RuntimeCliError `ERR_OPTION_INVALID` when a record in it cannot be read.
   */
  static async open(folder: string): Promise<Store> {
    const store = new Store(folder);
    await rm(store.#path('temporary'), {recursive: true, force: true});
    for (const name of ['temporary', 'bundles', 'deployments', 'sites']) {
      await mkdir(store.#path(name), {recursive: true, mode: 0o700});
    }
    for (const name of await readdir(store.#path('bundles'))) {
      if (!/^\d+$/.test(name)) continue;
      const record = await readRecord(store.#path('bundles', name, 'bundle.json'), bundleRecordSchema);
      store.#bundles.set(record.id, record);
      store.#lastBundleId = Math.max(store.#lastBundleId, record.id);
    }
    for (const name of await readdir(store.#path('deployments'))) {
      if (!/^\d+\.json$/.test(name)) continue;
      const record = await readRecord(store.#path('deployments', name), deploymentRecordSchema);
      store.#remember(record);
      store.#lastDeployment = Math.max(store.#lastDeployment, record.number);
    }
    const known = new Set(store.#deployments.map(({deploymentId}) => deploymentId));
    for (const name of await readdir(store.#path('sites'))) {
      if (!known.has(name)) await store.removeSite(name);
    }
    return store;
  }

  /** A new folder for an upload; it is the caller's to remove unless `addBundle()` takes it. */
  async createTemporaryFolder(): Promise<string> {
    const folder = this.#path('temporary', randomUUID());
    await mkdir(folder, {mode: 0o700});
    return folder;
  }

  /** Takes the folder of an upload, with the file `archive` in it, as a bundle. */
  async addBundle(folder: string, bundle: NewBundle, contents: BundleContents): Promise<BundleRecord> {
    this.#lastBundleId += 1;
    const record = {id: this.#lastBundleId, ...bundle};
    await writeJsonFile(path.join(folder, 'contents.json'), contents, this.#path('temporary'));
    await writeJsonFile(path.join(folder, 'bundle.json'), record, this.#path('temporary'));
    await moveIntoPlace(folder, this.#path('bundles', String(record.id)));
    this.#bundles.set(record.id, record);
    return record;
  }

  /** Bundles of a project, the newest first. */
  bundles(projectSlug: string): readonly BundleRecord[] {
    return [...this.#bundles.values()]
      .filter((bundle) => bundle.projectSlug === projectSlug && bundle.deletedAt === undefined)
      .sort((a, b) => b.id - a.id);
  }

  bundle(projectSlug: string, id: number): BundleRecord | undefined {
    const bundle = this.#bundles.get(id);
    return bundle?.projectSlug === projectSlug && bundle.deletedAt === undefined ? bundle : undefined;
  }

  archivePath(id: number): string {
    return this.#path('bundles', String(id), 'archive');
  }

  async contents(id: number): Promise<BundleContents> {
    return readRecord(this.#path('bundles', String(id), 'contents.json'), bundleContentsSchema);
  }

  async deleteBundle(bundle: BundleRecord, now: Date): Promise<void> {
    const deleted = {...bundle, deletedAt: now.toISOString()};
    const file = this.#path('bundles', String(bundle.id), 'bundle.json');
    await writeJsonFile(file, deleted, this.#path('temporary'));
    this.#bundles.set(bundle.id, deleted);
    await rm(this.archivePath(bundle.id), {force: true});
  }

  /** Keeps a deployment; `site`: the folder with the files that it serves, which the store takes. */
  async addDeployment(deployment: NewDeployment, site: string | undefined): Promise<DeploymentRecord> {
    this.#lastDeployment += 1;
    const record = {number: this.#lastDeployment, ...deployment};
    if (site !== undefined) await moveIntoPlace(site, this.sitePath(record.deploymentId));
    const file = this.#path('deployments', `${String(record.number)}.json`);
    await writeJsonFile(file, record, this.#path('temporary'));
    this.#remember(record);
    return record;
  }

  /** Deployments of a project, or of one of its targets, the newest first. */
  deployments(projectSlug: string, targetSlug?: string): readonly DeploymentRecord[] {
    return this.#deployments.filter(
      (deployment) =>
        deployment.projectSlug === projectSlug && (targetSlug === undefined || deployment.targetSlug === targetSlug),
    );
  }

  /** Folder of the files that a deployment serves. */
  sitePath(deploymentId: string): string {
    return this.#path('sites', deploymentId);
  }

  /** Removes the files of a deployment that serves no longer. */
  async removeSite(deploymentId: string): Promise<void> {
    await rm(this.sitePath(deploymentId), {recursive: true, force: true});
  }

  #path(...segments: readonly string[]): string {
    return path.join(this.#folder, ...segments);
  }

  #remember(deployment: DeploymentRecord): void {
    this.#deployments = [deployment, ...this.#deployments].sort((a, b) => b.number - a.number);
  }
}

async function readRecord<Schema extends v.GenericSchema>(
  file: string,
  schema: Schema,
): Promise<v.InferOutput<Schema>> {
  try {
    return v.parse(schema, JSON.parse(await readFile(file, 'utf8')));
  } catch (error) {
    throw createError('ERR_OPTION_INVALID', `the data folder holds a record that cannot be read: ${file}`, {
      cause: error,
      suggestions: ['Choose another data folder, or remove that record.'],
    });
  }
}
