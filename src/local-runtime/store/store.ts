import {randomUUID} from 'node:crypto';
import {mkdir, readdir, rm, writeFile} from 'node:fs/promises';
import path from 'node:path';
import * as v from 'valibot';
import {moveFile} from '../../files/write-files.js';
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

const targetSchema = v.object({
  projectSlug: v.string(),
  targetSlug: v.string(),
  name: v.string(),
  createdAt: v.string(),
  readyAt: v.string(),
  outcome: v.picklist(['ready', 'failed']),
  /** Of a deleted target: it is listed until then. */
  goneAt: v.optional(v.string()),
  variables: v.record(v.string(), v.object({value: v.string(), updatedAt: v.string(), updatedBy: v.string()})),
  invalidations: v.array(v.object({pattern: v.string(), createdAt: v.string(), createdBy: v.string()})),
  /** As the configuration has them. */
  settings: objectSchema,
  redirects: v.array(
    v.object({
      id: v.string(),
      from: v.string(),
      to: v.string(),
      status: v.picklist([301, 302]),
      forwardQuery: v.boolean(),
      forwardWildcard: v.boolean(),
    }),
  ),
  access: v.array(v.object({id: v.string(), value: v.string()})),
  primary: v.boolean(),
});

/** What is known of a target besides its deployments. */
export type TargetRecord = Readonly<v.InferOutput<typeof targetSchema>>;

export type RedirectRecord = TargetRecord['redirects'][number];

const stateSchema = v.object({
  bundles: v.array(bundleSchema),
  deployments: v.array(deploymentSchema),
  targets: v.array(targetSchema),
});

const siteName = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const temporaryName = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}(?:\.json)?$/;

/**
 * Bundles, deployments and targets on disk:
 *
 * - `state.json`: all records. They are kept in memory, and written whole after each change.
 * - `bundles/ID/archive` and `contents.json`: an accepted bundle.
 * - `sites/DEPLOYMENT-ID/`: the files that a deployment serves.
 * - `temporary/`: what is being written. It is moved into place, so a killed process leaves whole bundles and sites.
 */
export class Store {
  readonly #folder: string;
  readonly #bundles: Map<number, BundleRecord>;
  /** Newest first. */
  #deployments: readonly DeploymentRecord[];
  readonly #targets: Map<string, TargetRecord>;
  #lastBundleId: number;
  /** The deployments whose files are there. */
  readonly #sites = new Set<string>();
  #writing: Promise<void> = Promise.resolve();
  /** The write that comes after the one under way. */
  #waiting: Promise<void> | undefined;

  private constructor(folder: string, ids: readonly number[], state: v.InferOutput<typeof stateSchema>) {
    const {bundles, deployments, targets} = state;
    this.#folder = folder;
    this.#bundles = new Map(bundles.map((bundle) => [bundle.id, bundle]));
    this.#deployments = deployments;
    this.#targets = new Map(targets.map((target) => [sitePath(target), target]));
    this.#lastBundleId = Math.max(0, ...ids, ...this.#bundles.keys());
  }

  /** Opens the store in a data folder. @throws RuntimeCliError `ERR_OPTION_INVALID` if its records cannot be read. */
  static async open(folder: string): Promise<Store> {
    const state = await readDataFile(path.join(folder, 'state.json'), stateSchema);
    // A killed run, or somebody else, may have left a folder without a record.
    const ids = (await readdir(path.join(folder, 'bundles'))).map(Number).filter(Number.isSafeInteger);
    return new Store(folder, ids, state ?? {bundles: [], deployments: [], targets: []});
  }

  /** Writes all records. What changes while they are written is written after that, in one go. */
  #save(): Promise<void> {
    this.#waiting ??= this.#writing
      .catch(() => undefined)
      .then(() => {
        this.#waiting = undefined;
        const [bundles, targets] = [[...this.#bundles.values()], [...this.#targets.values()]];
        return writeJson(this.#path('state.json'), {bundles, deployments: this.#deployments, targets}, this.#folder);
      });
    this.#writing = this.#waiting;
    return this.#waiting;
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
    await writeFile(path.join(folder, 'contents.json'), JSON.stringify(contents), {mode: 0o600});
    await moveFile(folder, this.#path('bundles', String(record.id)));
    this.#bundles.set(record.id, record);
    await this.#save();
    return record;
  }

  /** The bundles of a project, newest first. */
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
    const contents = await readDataFile(this.#path('bundles', String(id), 'contents.json'), contentsSchema);
    if (contents === undefined) throw new Error(`The data folder has no contents.json of bundle ${id}`);
    return contents;
  }

  /** Deletes a bundle. From the call on, `bundle()` does not return it, so that nothing can use it anymore. */
  async deleteBundle(bundle: BundleRecord, now: Date): Promise<void> {
    this.#bundles.set(bundle.id, {...bundle, deletedAt: now.toISOString()});
    await this.#save();
    await this.#removeBundle(bundle.id);
  }

  /** The slugs of all projects that were ever pushed to, or that have targets, sorted. */
  projects(): readonly string[] {
    const records = [...this.#bundles.values(), ...this.#targets.values()];
    return [...new Set(records.map(({projectSlug}) => projectSlug))].sort();
  }

  /** The slugs of all of a project's targets that were ever made or deployed to, sorted. */
  targets(projectSlug: string): readonly string[] {
    const records = [...this.#targets.values()].filter((one) => one.projectSlug === projectSlug);
    return [...new Set([...this.deployments({projectSlug}), ...records].map(({targetSlug}) => targetSlug))].sort();
  }

  target(site: SiteName): TargetRecord | undefined {
    return this.#targets.get(sitePath(site));
  }

  async writeTarget(target: TargetRecord): Promise<void> {
    this.#targets.set(sitePath(target), target);
    await this.#save();
  }

  /** The deployments of all projects, of one or of a target, newest first. */
  deployments({projectSlug, targetSlug}: Partial<SiteName> = {}): readonly DeploymentRecord[] {
    return this.#deployments.filter(
      (one) =>
        one.projectSlug === (projectSlug ?? one.projectSlug) && one.targetSlug === (targetSlug ?? one.targetSlug),
    );
  }

  /** Stores a deployment. `site`: the folder with the files to serve, which is moved into the store. */
  async addDeployment(
    deployment: Omit<DeploymentRecord, 'number'>,
    site: string | undefined,
  ): Promise<DeploymentRecord> {
    if (site !== undefined) {
      await moveFile(site, this.sitePath(deployment.deploymentId));
      this.#sites.add(deployment.deploymentId);
    }
    const record = {number: (this.#deployments[0]?.number ?? 0) + 1, ...deployment};
    this.#deployments = [record, ...this.#deployments];
    await this.#save();
    return record;
  }

  /** Removes the deployments to a target, with the files that they serve. */
  async removeDeployments(site: SiteName): Promise<void> {
    const removed = this.deployments(site);
    this.#deployments = this.#deployments.filter((one) => !removed.includes(one));
    await this.#save();
    for (const {deploymentId} of removed) await this.removeSite(deploymentId);
  }

  /** The folder with the files that a deployment serves. */
  sitePath(deploymentId: string): string {
    return this.#path('sites', deploymentId);
  }

  /** Removes the files of a deployment that no longer serves. Does nothing if they are gone. */
  async removeSite(deploymentId: string): Promise<void> {
    if (!this.#sites.delete(deploymentId)) return;
    await rm(this.sitePath(deploymentId), {recursive: true, force: true});
  }

  /** Removes what a killed run left unfinished. Anything not named by this class stays. */
  async sweep(): Promise<void> {
    for (const {id, deletedAt} of this.#bundles.values()) if (deletedAt !== undefined) await this.#removeBundle(id);
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

  #removeBundle(id: number): Promise<void> {
    return rm(this.#path('bundles', String(id)), {recursive: true, force: true});
  }

  #path(...segments: readonly string[]): string {
    return path.join(this.#folder, ...segments);
  }
}
