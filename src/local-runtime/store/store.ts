import {randomUUID} from 'node:crypto';
import {mkdir, readdir, rm} from 'node:fs/promises';
import path from 'node:path';
import * as v from 'valibot';
import {createError, type RuntimeCliError} from '../../errors/index.js';
import {
  moveIntoPlace,
  writeJsonFile,
  writeNewJson,
  makeOwnFolder,
  readOwnJson,
  removeFolder,
  syncFolder,
  verifyOwnFile,
  verifyOwnFolder,
} from './data-folder.js';
import {
  bundleContentsSchema,
  bundleRecordSchema,
  deploymentRecordSchema,
  type BundleContents,
  type BundleRecord,
  type DeploymentRecord,
} from './records.js';

/** A bundle without an ID. */
type NewBundle = Omit<BundleRecord, 'id' | 'deletedAt'>;

/** A deployment without a number. */
type NewDeployment = Omit<DeploymentRecord, 'number'>;

const siteName = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const temporaryName = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}(?:\.json)?$/;

/**
 * The data of a runtime, in one folder:
 *
 * ```
 * credentials.json
 * port.json                  the last ports used
 * bundles/{id}/{bundle.json,contents.json,archive}
 * deployments/{number}.json
 * sites/{deploymentId}/      the files that a deployment serves
 * temporary/{uuid}           uploads in progress; swept on startup
 * lock-{pid}-{start}-{where} held by the runtime that uses the folder
 * ```
 *
 * Everything is complete before it is renamed into place, and nothing is acknowledged before that, so what was accepted
 * survives a kill -9. Bundles and records are also synced first, so they survive a power cut. The files of a site are
 * not: a site can have thousands, and deploying its bundle again makes them again. The folder may come from a checkout,
 * so no link in it is followed, and only files named by this class are removed.
 */
export class Store {
  readonly #folder: string;
  readonly #bundles = new Map<number, BundleRecord>();
  /** By project, then by target, newest first. */
  readonly #deployments = new Map<string, Map<string, readonly DeploymentRecord[]>>();
  /** The deployments whose files are there. */
  readonly #sites = new Set<string>();
  #lastBundleId = 0;
  #lastDeployment = 0;

  private constructor(folder: string) {
    this.#folder = folder;
  }

  /**
   * Opens the store in `folder`, creating it if necessary, and removes what a killed run left unfinished.
   * @throws RuntimeCliError `ERR_OPTION_INVALID` when a record in it cannot be read.
   */
  static async open(folder: string): Promise<Store> {
    const store = new Store(folder);
    let isNew = false;
    for (const name of ['temporary', 'bundles', 'deployments', 'sites']) {
      if (await makeOwnFolder(store.#path(name))) isNew = true;
    }
    if (isNew) for (const changed of [folder, path.dirname(folder)]) await syncFolder(changed);
    for (const name of await readdir(store.#path('bundles'))) {
      if (/^[1-9]\d*$/.test(name)) await store.#readBundle(name);
    }
    const numbers = (await readdir(store.#path('deployments'))).flatMap(
      (name) => /^([1-9]\d*)\.json$/.exec(name)?.[1] ?? [],
    );
    for (const number of numbers.sort((a, b) => Number(a) - Number(b))) await store.#readDeployment(number);
    await store.#sweep();
    return store;
  }

  /** Creates a folder for an upload. The caller must remove it unless `addBundle()` takes it. */
  async createTemporaryFolder(): Promise<string> {
    const folder = this.#path('temporary', randomUUID());
    await mkdir(folder, {mode: 0o700});
    return folder;
  }

  /** Moves the folder of an upload, which contains the file `archive`, into the store as a bundle. */
  async addBundle(folder: string, bundle: NewBundle, contents: BundleContents): Promise<BundleRecord> {
    this.#lastBundleId += 1;
    const record = {id: this.#lastBundleId, ...bundle};
    await writeNewJson(path.join(folder, 'contents.json'), contents);
    await writeNewJson(path.join(folder, 'bundle.json'), record);
    await syncFolder(folder);
    await moveIntoPlace(folder, this.#path('bundles', String(record.id)));
    this.#bundles.set(record.id, record);
    return record;
  }

  /** The bundles of a project, newest first. */
  bundles(projectSlug: string): readonly BundleRecord[] {
    return [...this.#bundles.values()]
      .filter((bundle) => bundle.projectSlug === projectSlug && bundle.deletedAt === undefined)
      .sort((a, b) => b.id - a.id);
  }

  /** The slugs of all projects that were ever pushed to, sorted. */
  projects(): readonly string[] {
    return [...new Set([...this.#bundles.values()].map(({projectSlug}) => projectSlug))].sort();
  }

  /** The slugs of all of a project's targets that were ever deployed to, sorted. */
  targets(projectSlug: string): readonly string[] {
    return [...(this.#deployments.get(projectSlug)?.keys() ?? [])].sort();
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

  /** Deletes a bundle. From the call on, `bundle()` does not return it, so that nothing can use it anymore. */
  async deleteBundle(bundle: BundleRecord, now: Date): Promise<void> {
    const deleted = {...bundle, deletedAt: now.toISOString()};
    const folder = this.#path('bundles', String(bundle.id));
    this.#bundles.set(bundle.id, deleted);
    try {
      await verifyOwnFolder(folder);
      await writeJsonFile(path.join(folder, 'bundle.json'), deleted, this.#path('temporary'));
    } catch (error) {
      this.#bundles.set(bundle.id, bundle);
      throw error;
    }
    await this.#removeContent(folder);
  }

  /** Stores a deployment. `site`: the folder with the files to serve, which is moved into the store. */
  async addDeployment(deployment: NewDeployment, site: string | undefined): Promise<DeploymentRecord> {
    this.#lastDeployment += 1;
    const record = {number: this.#lastDeployment, ...deployment};
    if (site !== undefined) {
      await moveIntoPlace(site, this.sitePath(record.deploymentId));
      this.#sites.add(record.deploymentId);
    }
    const file = this.#path('deployments', `${String(record.number)}.json`);
    await writeJsonFile(file, record, this.#path('temporary'));
    this.#remember(record);
    return record;
  }

  /** The deployments to a target of a project, newest first. */
  deployments(projectSlug: string, targetSlug: string): readonly DeploymentRecord[] {
    return this.#deployments.get(projectSlug)?.get(targetSlug) ?? [];
  }

  /** The deployments of a project, or of all, newest first, at most `count`. */
  newestDeployments(count: number, projectSlug?: string): readonly DeploymentRecord[] {
    const projects = projectSlug === undefined ? this.#deployments.keys() : [projectSlug];
    return [...projects]
      .map((slug) => this.#deployments.get(slug) ?? new Map<string, readonly DeploymentRecord[]>())
      .flatMap((targets) => [...targets.values()].flatMap((deployments) => deployments.slice(0, count)))
      .sort((a, b) => b.number - a.number)
      .slice(0, count);
  }

  /** The folder with the files that a deployment serves. */
  sitePath(deploymentId: string): string {
    return this.#path('sites', deploymentId);
  }

  /** Removes the files of a deployment that no longer serves. Does nothing if they are gone. */
  async removeSite(deploymentId: string): Promise<void> {
    if (!this.#sites.has(deploymentId)) return;
    await verifyOwnFolder(this.#path('sites'));
    await rm(this.sitePath(deploymentId), {recursive: true, force: true});
    this.#sites.delete(deploymentId);
  }

  async #readBundle(name: string): Promise<void> {
    const folder = this.#path('bundles', name);
    await verifyOwnFolder(folder);
    const record = await readRecord(path.join(folder, 'bundle.json'), bundleRecordSchema);
    verifyNumber(record.id, name, folder);
    if (record.deletedAt === undefined) await verifyOwnFile(path.join(folder, 'archive'));
    else await this.#removeContent(folder);
    this.#bundles.set(record.id, record);
    this.#lastBundleId = Math.max(this.#lastBundleId, record.id);
  }

  async #readDeployment(number: string): Promise<void> {
    const file = this.#path('deployments', `${number}.json`);
    const record = await readRecord(file, deploymentRecordSchema);
    verifyNumber(record.number, number, file);
    this.#remember(record);
    this.#lastDeployment = Math.max(this.#lastDeployment, record.number);
  }

  /** Removes what a killed run left unfinished. Anything not named by this class stays. */
  async #sweep(): Promise<void> {
    for (const name of await readdir(this.#path('temporary'))) {
      if (temporaryName.test(name)) await removeFolder(this.#path('temporary', name));
    }
    const targets = [...this.#deployments.values()].flatMap((project) => [...project.values()]);
    const known = new Set(targets.flatMap((deployments) => deployments.map(({deploymentId}) => deploymentId)));
    for (const name of await readdir(this.#path('sites'))) {
      if (!siteName.test(name)) continue;
      this.#sites.add(name);
      if (!known.has(name)) await this.removeSite(name);
    }
  }

  /** Removes everything of a deleted bundle but its record. */
  async #removeContent(folder: string): Promise<void> {
    for (const name of await readdir(folder)) {
      if (name === 'archive' || name === 'contents.json') await rm(path.join(folder, name), {force: true});
    }
  }

  #path(...segments: readonly string[]): string {
    return path.join(this.#folder, ...segments);
  }

  #remember(deployment: DeploymentRecord): void {
    const {projectSlug, targetSlug} = deployment;
    const project = this.#deployments.get(projectSlug) ?? new Map<string, readonly DeploymentRecord[]>();
    this.#deployments.set(projectSlug, project);
    project.set(targetSlug, [deployment, ...(project.get(targetSlug) ?? [])]);
  }
}

async function readRecord<Schema extends v.GenericSchema>(
  file: string,
  schema: Schema,
): Promise<v.InferOutput<Schema>> {
  try {
    return v.parse(schema, await readOwnJson(file));
  } catch (error) {
    throw unreadableRecord(file, error);
  }
}

/** A record's number must match its file name. A different one would lead to the files of another record. */
function verifyNumber(number: number, name: string, file: string): void {
  if (String(number) !== name) throw unreadableRecord(file, new Error(`It has the number ${String(number)}.`));
}

function unreadableRecord(file: string, cause: unknown): RuntimeCliError {
  return createError('ERR_OPTION_INVALID', `The data folder contains a record that cannot be read: ${file}.`, {
    cause,
    suggestions: ['Remove that record, or choose another data folder.'],
  });
}
