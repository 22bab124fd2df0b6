import {randomUUID} from 'node:crypto';
import {rm} from 'node:fs/promises';
import type {DeploymentStatus} from '../../backends/contract.js';
import {isUnderWay} from '../../backends/members.js';
import {HttpFailure} from '../answer.js';
import type {FaultBook} from '../faults.js';
import {sitePath, type SiteName} from '../sites/site-address.js';
import {unpackBundle} from '../upload/unpack-bundle.js';
import type {BundleRecord, DeploymentRecord, Store} from './store.js';

export interface DeploymentsOptions {
  readonly store: Store;
  readonly faults: FaultBook;
  readonly now: () => Date;
  /** How long a deployment takes, from queued to finished. */
  readonly seconds: number;
}

interface DeploymentRequest {
  readonly bundle: BundleRecord;
  readonly createdBy: string;
  /** The kind of request, as in the routes of `fail` faults. */
  readonly route: 'upload' | 'deploy';
}

/** Deploys a bundle. When it resolves, the files are in place and the deployment's time starts. */
type Start = (request: DeploymentRequest) => Promise<DeploymentRecord>;

/** A request to deploy that is being prepared. Its deployment has no record yet, but needs its bundle. */
interface Preparation {
  readonly targetSlug: string;
  readonly since: string;
  bundleId: number | undefined;
}

/** Runs deployments, one at a time per target, and tracks what is running where. */
export class Deployments {
  /** By target. */
  readonly #preparing = new Map<string, Preparation>();

  constructor(private readonly options: DeploymentsOptions) {}

  deploy(site: SiteName, request: Omit<DeploymentRequest, 'route'>): Promise<DeploymentRecord> {
    return this.exclusively(site, (start) => start({...request, route: 'deploy'}));
  }

  /**
   * Runs `work`, which may start a deployment, while no one else can deploy to the target.
   * @throws HttpFailure 409 while a deployment to it is in progress, or the target is being made or deleted.
   */
  async exclusively<T>(site: SiteName, work: (start: Start) => Promise<T>): Promise<T> {
    this.verifyReady(site);
    const key = sitePath(site);
    const running = this.running(site);
    const since = running?.createdAt ?? this.#preparing.get(key)?.since;
    if (since !== undefined) {
      const what = running ? `Bundle ${running.bundleId}` : 'Another bundle';
      throw new HttpFailure(409, `${what} has been deploying to "${site.targetSlug}" since ${since}.`);
    }
    const {targetSlug} = site;
    const preparation: Preparation = {targetSlug, since: this.options.now().toISOString(), bundleId: undefined};
    this.#preparing.set(key, preparation);
    try {
      return await work((request) => {
        preparation.bundleId = request.bundle.id;
        return this.#start(request, site);
      });
    } finally {
      this.#preparing.delete(key);
    }
  }

  /** @throws HttpFailure 409 while a target is being made or deleted: nothing can be deployed to it. */
  verifyReady(site: SiteName): void {
    const {store, now} = this.options;
    const {readyAt = '', goneAt = ''} = store.target(site) ?? {};
    const time = now().toISOString();
    if (time < readyAt || time < goneAt) {
      throw new HttpFailure(409, `The target "${site.targetSlug}" is being ${time < goneAt ? 'deleted' : 'created'}.`);
    }
  }

  /** @throws HttpFailure 404 if the bundle was deleted meanwhile. */
  async #start({bundle, createdBy, route}: DeploymentRequest, site: SiteName): Promise<DeploymentRecord> {
    const {store, faults, now, seconds} = this.options;
    const {id: bundleId, message} = bundle;
    const {projectSlug, targetSlug} = site;
    if (!store.bundle(projectSlug, bundleId)) throw new HttpFailure(404, `Bundle ${bundleId} was deleted.`);
    const outcome = faults.take(route, 'fail') ? 'failed' : 'finished';
    let files: string | undefined;
    try {
      if (outcome === 'finished') {
        const folder = (files = await store.createTemporaryFolder());
        const {root, served} = await store.contents(bundleId);
        // Server-only files cannot be requested, because they are not there.
        await unpackBundle(store.archivePath(bundleId), {root, folder, wanted: new Set(served)});
      }
      const created = now();
      const after = (share: number): string => new Date(created.getTime() + share * seconds * 1000).toISOString();
      const times = {createdAt: created.toISOString(), startsAt: after(queuedShare), endsAt: after(1)};
      const deploymentId = randomUUID();
      const record = {deploymentId, projectSlug, targetSlug, bundleId, message, createdBy, outcome, ...times} as const;
      const deployment = await store.addDeployment(record, files);
      await this.#removeOldSites(site);
      return deployment;
    } finally {
      if (files !== undefined) await rm(files, {recursive: true, force: true});
    }
  }

  /** The deployment that a target serves: the newest one that has finished. It switches by the time alone. */
  current(site: SiteName): DeploymentRecord | undefined {
    return this.#newest(site, (status) => status === 'finished');
  }

  /** The bundle that a target serves, if it was not deleted. */
  currentBundle(site: SiteName): BundleRecord | undefined {
    const current = this.current(site);
    return current && this.options.store.bundle(site.projectSlug, current.bundleId);
  }

  /** The deployment to a target that has not ended yet. */
  running(site: SiteName): DeploymentRecord | undefined {
    return this.#newest(site, isUnderWay);
  }

  /** Whether a deployment to a target is in progress, or is being prepared. */
  isDeploying(site: SiteName): boolean {
    return this.#preparing.has(sitePath(site)) || this.running(site) !== undefined;
  }

  targetsServing({projectSlug, id}: BundleRecord): readonly string[] {
    const targets = this.options.store.targets(projectSlug);
    return targets.filter((targetSlug) => this.current({projectSlug, targetSlug})?.bundleId === id);
  }

  /** Deletes a bundle. @throws HttpFailure 409 when a target runs or is deploying it. */
  async deleteBundle(bundle: BundleRecord): Promise<void> {
    const {store, now} = this.options;
    const {id, projectSlug} = bundle;
    const prepared = [...this.#preparing.values()].find(({bundleId}) => bundleId === id)?.targetSlug;
    const deploying = store.targets(projectSlug).find((slug) => {
      return this.running({projectSlug, targetSlug: slug})?.bundleId === id;
    });
    const target = this.targetsServing(bundle)[0] ?? prepared ?? deploying;
    if (target !== undefined) throw new HttpFailure(409, `Bundle ${id} is in use by "${target}".`);
    await store.deleteBundle(bundle, now());
  }

  #newest(site: SiteName, isSought: (status: DeploymentStatus) => boolean): DeploymentRecord | undefined {
    const {store, now} = this.options;
    const time = now();
    return store.deployments(site).find((deployment) => isSought(deploymentState(deployment, time).status));
  }

  /** Removes what a killed run leaves behind. Only once the ports are taken: another runtime may use the folder. */
  async sweep(): Promise<void> {
    const {store} = this.options;
    await store.sweep();
    for (const site of store.deployments()) await this.#removeOldSites(site);
  }

  async #removeOldSites(site: SiteName): Promise<void> {
    const {store} = this.options;
    const needed = [this.current(site), this.running(site)];
    for (const deployment of store.deployments(site)) {
      if (!needed.includes(deployment)) await store.removeSite(deployment.deploymentId);
    }
  }
}

const queuedShare = 0.25;

const failsAt = 50;

/**
 * The state of a deployment at `now`, computed only from its timestamps: since when it is in that state, its percentage
 * unless it is queued, and the seconds it took if it has ended.
 */
export function deploymentState(deployment: DeploymentRecord, now: Date) {
  const {outcome, createdAt, startsAt, endsAt} = deployment;
  const time = now.getTime();
  const [created, starts, ends] = [Date.parse(createdAt), Date.parse(startsAt), Date.parse(endsAt)];
  const limit = outcome === 'finished' ? 100 : failsAt;
  // A clock that was set back must not take a target down.
  if (time >= ends || time < created) {
    return {status: outcome, percentage: limit, updatedAt: endsAt, duration: (ends - created) / 1000};
  }
  if (time < starts) return {status: 'queued', updatedAt: createdAt} as const;
  const percentage = Math.floor((limit * (time - starts)) / (ends - starts));
  return {status: 'in_progress', percentage, updatedAt: startsAt} as const;
}
