import {randomUUID} from 'node:crypto';
import {mkdir, readdir, rm} from 'node:fs/promises';
import path from 'node:path';
import * as v from 'valibot';
import {createError} from '../../errors/index.js';
import {moveFile} from '../../files/move-file.js';
import {objectSchema} from '../../settings/schemas.js';
import {sitePath, type SiteName} from '../sites/site-address.js';
import {readDataFile, writeJson} from './data-folder.js';

/** IDs are used in paths, so even those on disk are accepted only in the form in which they are created. */
const serialNumber = v.pipe(v.number(), v.safeInteger(), v.minValue(1));

const bundleSchema = v.object({
  id: serialNumber,
  projectSlug: v.string(),
  format: v.picklist(['v1', 'v2']),
  message: v.string(),
  createdAt: v.string(),
  createdBy: v.string(),
  size: v.number(),
  sha256: v.string(),
  ssrParameters: objectSchema,
  deletedAt: v.optional(v.string()),
});

/** An accepted bundle. A deleted one keeps its record, so that its ID is never reused. */
export type BundleRecord = Readonly<v.InferOutput<typeof bundleSchema>>;

const contentsSchema = v.object({
  root: v.pipe(v.string(), v.nonEmpty()),
  served: v.array(v.string()),
  /** v2 only. */
  configPath: v.optional(v.string()),
  /** v1 only: the archive does not say which of its files are shared. */
  shared: v.optional(v.array(v.string())),
});

/** What is in an archive, and what is served of it. Its paths are relative to `root`, a folder of the archive. */
type BundleContents = Readonly<v.InferOutput<typeof contentsSchema>>;

const deploymentSchema = v.object({
  number: serialNumber,
  deploymentId: v.pipe(v.string(), v.uuid()),
  projectSlug: v.string(),
  targetSlug: v.string(),
  bundleId: serialNumber,
  message: v.string(),
  createdBy: v.string(),
  createdAt: v.string(),
  startsAt: v.string(),
  endsAt: v.string(),
  outcome: v.picklist(['finished', 'failed']),
});

/** A deployment. Its state is computed from its times, so it continues across restarts. */
export type DeploymentRecord = Readonly<v.InferOutput<typeof deploymentSchema>>;

const redirectSchema = v.object({
  from: v.string(),
  to: v.string(),
  status: v.picklist([301, 302]),
  forwardQuery: v.boolean(),
  forwardWildcard: v.boolean(),
});

/** A redirect of a target, with all that can be said of it. */
export type RedirectRecord = Readonly<v.InferOutput<typeof redirectSchema>> & {readonly id: string};

const change = {updatedAt: v.string(), updatedBy: v.string()};
const targetSchema = v.object({
  number: serialNumber,
  projectSlug: v.string(),
  targetSlug: v.string(),
  name: v.string(),
  createdAt: v.string(),
  createdBy: v.string(),
  readyAt: v.string(),
  outcome: v.picklist(['ready', 'failed']),
  deletedAt: v.optional(v.string()),
  variables: v.record(v.string(), v.object({value: v.string(), ...change})),
  invalidations: v.array(v.object({pattern: v.string(), createdAt: v.string(), createdBy: v.string()})),
  /** As the configuration has them. */
  settings: v.optional(objectSchema, {}),
  redirects: v.optional(v.array(v.object({...redirectSchema.entries, id: v.string()})), []),
  access: v.optional(v.array(v.object({id: v.string(), value: v.string()})), []),
  primary: v.optional(v.boolean(), false),
});

/** What was done to a target besides deployments. */
export type TargetRecord = Readonly<v.InferOutput<typeof targetSchema>>;

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
 * targets/{number}.json      what was done to a target besides deployments, and its variables
 * sites/{deploymentId}/      the files that a deployment serves
 * temporary/{uuid}           uploads in progress; swept on startup
 * ```
 *
 * Everything is complete before it is renamed into place, and nothing is acknowledged before that, so what was accepted
 * survives a kill -9. Only files named by this class are removed.
 */
export class Store {
  readonly #folder: string;
  readonly #bundles = new Map<number, BundleRecord>();
  /** Newest first. */
  #deployments: readonly DeploymentRecord[] = [];
  /** The deployments whose files are there. */
  readonly #sites = new Set<string>();
  readonly #targets = new Map<string, TargetRecord>();
  #lastBundleId = 0;
  #lastDeployment = 0;
  #lastTarget = 0;

  private constructor(folder: string) {
    this.#folder = folder;
  }

  /**
   * Opens the store in a data folder.
   * @throws RuntimeCliError `ERR_OPTION_INVALID` when a record in it cannot be read.
   */
  static async open(folder: string): Promise<Store> {
    const store = new Store(folder);
    for (const name of await readdir(store.#path('bundles'))) {
      if (/^[1-9]\d*$/.test(name)) await store.#readBundle(name);
    }
    for (const number of await store.#numbersIn('deployments')) await store.#readDeployment(number);
    for (const number of await store.#numbersIn('targets')) await store.#readTarget(number);
    return store;
  }

  /** The numbers of the records in a folder, in order. */
  async #numbersIn(folder: string): Promise<readonly number[]> {
    const numbers = (await readdir(this.#path(folder))).flatMap((name) => {
      const number = /^([1-9]\d*)\.json$/.exec(name)?.[1];
      return number === undefined ? [] : Number(number);
    });
    return numbers.sort((a, b) => a - b);
  }

  /** Creates a folder for an upload. The caller must remove it unless `addBundle()` takes it. */
  async createTemporaryFolder(): Promise<string> {
    const folder = this.#path('temporary', randomUUID());
    await mkdir(folder, {mode: 0o700});
    return folder;
  }

  /** Moves the folder of an upload, which contains the file `archive`, into the store as a bundle. */
  async addBundle(folder: string, bundle: Omit<BundleRecord, 'id'>, contents: BundleContents): Promise<BundleRecord> {
    this.#lastBundleId += 1;
    const record = {id: this.#lastBundleId, ...bundle};
    await writeJson(path.join(folder, 'contents.json'), contents, this.#folder);
    await writeJson(path.join(folder, 'bundle.json'), record, this.#folder);
    await moveFile(folder, this.#path('bundles', String(record.id)));
    this.#bundles.set(record.id, record);
    return record;
  }

  /** The bundles of a project, newest first. */
  bundles(projectSlug: string): readonly BundleRecord[] {
    return [...this.#bundles.values()]
      .filter((bundle) => bundle.projectSlug === projectSlug && bundle.deletedAt === undefined)
      .sort((a, b) => b.id - a.id);
  }

  /** The slugs of all projects that were ever pushed to, or that have targets, sorted. */
  projects(): readonly string[] {
    const records = [...this.#bundles.values(), ...this.#targets.values()];
    return [...new Set(records.map(({projectSlug}) => projectSlug))].sort();
  }

  /** The slugs of all of a project's targets that were ever made or deployed to, sorted. */
  targets(projectSlug: string): readonly string[] {
    const records = [...this.#targets.values()].filter((one) => one.projectSlug === projectSlug);
    const targets = [...this.newestDeployments(Infinity, projectSlug), ...records].map(({targetSlug}) => targetSlug);
    return [...new Set(targets)].sort();
  }

  target(site: SiteName): TargetRecord | undefined {
    return this.#targets.get(sitePath(site));
  }

  /** Stores what was done to a target. */
  async writeTarget(target: Omit<TargetRecord, 'number'>): Promise<void> {
    const previous = this.target(target);
    if (!previous) this.#lastTarget += 1;
    const record = {...target, number: previous?.number ?? this.#lastTarget};
    await writeJson(this.#path('targets', `${record.number}.json`), record, this.#folder);
    this.#targets.set(sitePath(target), record);
  }

  /** Removes the deployments to a target, with the files that they serve. */
  async removeDeployments(site: SiteName): Promise<void> {
    const removed = this.deployments(site);
    this.#deployments = this.#deployments.filter((one) => !removed.includes(one));
    for (const {number, deploymentId} of removed) {
      await rm(this.#path('deployments', `${number}.json`), {force: true});
      await this.removeSite(deploymentId);
    }
  }

  bundle(projectSlug: string, id: number): BundleRecord | undefined {
    const bundle = this.#bundles.get(id);
    return bundle?.projectSlug === projectSlug && bundle.deletedAt === undefined ? bundle : undefined;
  }

  archivePath(id: number): string {
    return this.#path('bundles', String(id), 'archive');
  }

  async contents(id: number): Promise<BundleContents> {
    return readRecord(this.#path('bundles', String(id), 'contents.json'), contentsSchema);
  }

  /** Deletes a bundle. From the call on, `bundle()` does not return it, so that nothing can use it anymore. */
  async deleteBundle(bundle: BundleRecord, now: Date): Promise<void> {
    const deleted = {...bundle, deletedAt: now.toISOString()};
    const folder = this.#path('bundles', String(bundle.id));
    this.#bundles.set(bundle.id, deleted);
    try {
      await writeJson(path.join(folder, 'bundle.json'), deleted, this.#folder);
    } catch (error) {
      this.#bundles.set(bundle.id, bundle);
      throw error;
    }
    await this.#removeContent(folder);
  }

  /** Stores a deployment. `site`: the folder with the files to serve, which is moved into the store. */
  async addDeployment(
    deployment: Omit<DeploymentRecord, 'number'>,
    site: string | undefined,
  ): Promise<DeploymentRecord> {
    this.#lastDeployment += 1;
    const record = {number: this.#lastDeployment, ...deployment};
    if (site !== undefined) {
      await moveFile(site, this.sitePath(record.deploymentId));
      this.#sites.add(record.deploymentId);
    }
    await writeJson(this.#path('deployments', `${record.number}.json`), record, this.#folder);
    this.#deployments = [record, ...this.#deployments];
    return record;
  }

  /** The deployments to a target of a project, newest first. */
  deployments({projectSlug, targetSlug}: SiteName): readonly DeploymentRecord[] {
    return this.#deployments.filter((one) => one.projectSlug === projectSlug && one.targetSlug === targetSlug);
  }

  /** The deployments of a project, or of all, newest first, at most `count`. */
  newestDeployments(count: number, projectSlug?: string): readonly DeploymentRecord[] {
    return this.#deployments
      .filter((one) => projectSlug === undefined || one.projectSlug === projectSlug)
      .slice(0, count);
  }

  /** The folder with the files that a deployment serves. */
  sitePath(deploymentId: string): string {
    return this.#path('sites', deploymentId);
  }

  /** Removes the files of a deployment that no longer serves. Does nothing if they are gone. */
  async removeSite(deploymentId: string): Promise<void> {
    if (!this.#sites.has(deploymentId)) return;
    await rm(this.sitePath(deploymentId), {recursive: true, force: true});
    this.#sites.delete(deploymentId);
  }

  async #readBundle(name: string): Promise<void> {
    const folder = this.#path('bundles', name);
    // Another number would lead to the files of another record.
    const schema = v.object({...bundleSchema.entries, id: v.literal(Number(name))});
    const record = await readRecord(path.join(folder, 'bundle.json'), schema);
    if (record.deletedAt !== undefined) await this.#removeContent(folder);
    this.#bundles.set(record.id, record);
    this.#lastBundleId = Math.max(this.#lastBundleId, record.id);
  }

  async #readDeployment(number: number): Promise<void> {
    const schema = v.object({...deploymentSchema.entries, number: v.literal(number)});
    const record = await readRecord(this.#path('deployments', `${number}.json`), schema);
    this.#deployments = [record, ...this.#deployments];
    this.#lastDeployment = Math.max(this.#lastDeployment, number);
  }

  async #readTarget(number: number): Promise<void> {
    const schema = v.object({...targetSchema.entries, number: v.literal(number)});
    const record = await readRecord(this.#path('targets', `${number}.json`), schema);
    this.#targets.set(sitePath(record), record);
    this.#lastTarget = Math.max(this.#lastTarget, number);
  }

  /** Removes what a killed run left unfinished. Anything not named by this class stays. */
  async sweep(): Promise<void> {
    for (const name of await readdir(this.#path('temporary'))) {
      if (temporaryName.test(name)) await rm(this.#path('temporary', name), {recursive: true, force: true});
    }
    const ids = new Set(this.#deployments.map(({deploymentId}) => deploymentId));
    for (const name of await readdir(this.#path('sites'))) {
      if (!siteName.test(name)) continue;
      this.#sites.add(name);
      if (!ids.has(name)) await this.removeSite(name);
    }
  }

  /** Removes everything of a deleted bundle but its record. */
  async #removeContent(folder: string): Promise<void> {
    for (const name of ['archive', 'contents.json']) await rm(path.join(folder, name), {force: true});
  }

  #path(...segments: readonly string[]): string {
    return path.join(this.#folder, ...segments);
  }
}

async function readRecord<Schema extends v.GenericSchema>(
  file: string,
  schema: Schema,
): Promise<v.InferOutput<Schema>> {
  return readDataFile(file, schema).catch((error: unknown) => {
    throw createError('ERR_OPTION_INVALID', `The data folder contains a record that cannot be read: ${file}.`, {
      cause: error,
      suggestions: ['Remove that record, or choose another data folder.'],
    });
  });
}
