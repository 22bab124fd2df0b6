import {randomBytes} from 'node:crypto';
import {targetSettings} from '../../settings/target-settings.js';
import {HttpFailure} from '../answer.js';
import type {FaultBook} from '../faults.js';
import {sitePath, type SiteName} from '../sites/site-address.js';
import {deploymentState, type Deployments} from './deployment-records.js';
import type {Store, TargetRecord} from './store.js';

interface TargetsOptions {
  readonly store: Store;
  readonly faults: FaultBook;
  readonly deployments: Deployments;
  readonly now: () => Date;
  /** Stops the server of a target, if it runs. */
  readonly stopApp: (site: SiteName) => Promise<void>;
  /** How long it takes to make or to delete a target. */
  readonly seconds: number;
}

export type TargetPhase = 'creating' | 'create-failed' | 'ready' | 'publishing' | 'publish-failed' | 'deleting';

const variableName = /^[A-Za-z_]\w*$/;

/**
 * The targets of all projects: those that were made, and those that a deployment has made by itself. Their states are
 * computed from their times, as those of deployments are.
 */
export class Targets {
  readonly #options: TargetsOptions;
  /** By target: resolves when the changes that were asked for have ended. */
  readonly #changing = new Map<string, Promise<void>>();

  constructor(options: TargetsOptions) {
    this.#options = options;
  }

  /** The targets of a project, sorted by slug. One that is being deleted is among them. */
  list(projectSlug: string): readonly ListedTarget[] {
    return this.#options.store.targets(projectSlug).flatMap((targetSlug) => {
      const status = this.#stateOf({projectSlug, targetSlug});
      return status === undefined ? [] : [{projectSlug, targetSlug, status}];
    });
  }

  /** A target with its state. @throws HttpFailure 404 if it does not exist. */
  find(site: SiteName): ListedTarget {
    return {...site, status: this.status(site)};
  }

  /** The state of a target. @throws HttpFailure 404 if it does not exist. */
  status(site: SiteName): TargetPhase {
    const status = this.#stateOf(site);
    if (status !== undefined) return status;
    throw new HttpFailure(404, `The target "${site.targetSlug}" does not exist. Create it, or deploy to it.`);
  }

  /** The state of a target at this moment. Undefined if it does not exist, or no longer does. */
  #stateOf(site: SiteName): TargetPhase | undefined {
    const {store, now} = this.#options;
    const record = this.record(site);
    if (record?.deletedAt !== undefined) return 'deleting';
    if (record && this.#isBefore(record.readyAt)) return 'creating';
    const deployments = store.deployments(site);
    const [newest] = deployments;
    if (newest === undefined) return record && (record.outcome === 'failed' ? 'create-failed' : 'ready');
    const {status} = deploymentState(newest, now());
    if (status === 'finished') return 'ready';
    const isFirst = !record && !deployments.some((one) => deploymentState(one, now()).status === 'finished');
    if (status === 'failed') return isFirst ? 'create-failed' : 'publish-failed';
    return isFirst ? 'creating' : 'publishing';
  }

  /** What is known of a target besides its deployments. Nothing is left of one that was deleted. */
  record(site: SiteName): TargetRecord | undefined {
    const {store, seconds} = this.#options;
    const record = store.target(site);
    if (record?.deletedAt === undefined) return record;
    return this.#isBefore(new Date(Date.parse(record.deletedAt) + seconds * 1000).toISOString()) ? record : undefined;
  }

  /** A slug for a new target of this name, as services make it that do not let clients choose. */
  makeSlug(name: string): string {
    const word = name
      .toLowerCase()
      .replaceAll(/[^a-z0-9]+/g, '-')
      .slice(0, 12)
      .replaceAll(/^-|-$/g, '');
    return `${word || 'target'}-${randomBytes(3).toString('hex')}`;
  }

  /**
   * Makes a target. A copy gets the variables of its source, and runs what that runs.
   * @throws HttpFailure 409 if there is one, 404 if there is no source.
   */
  create(site: SiteName, target: NewTarget): Promise<void> {
    return this.#oneAtATime(site, () => this.#create(site, target));
  }

  async #create(site: SiteName, {name, copyFrom, settings = {}, user}: NewTarget): Promise<void> {
    const {store, faults, deployments, now, seconds} = this.#options;
    const {projectSlug, targetSlug} = site;
    if (this.#stateOf(site) !== undefined) throw new HttpFailure(409, `The target "${targetSlug}" exists already.`);
    const source = copyFrom === undefined ? undefined : {projectSlug, targetSlug: copyFrom};
    if (source) this.status(source);
    const original = source && this.record(source);
    const created = now();
    await store.writeTarget({
      ...site,
      name,
      createdAt: created.toISOString(),
      createdBy: user,
      readyAt: new Date(created.getTime() + seconds * 1000).toISOString(),
      outcome: faults.take('create-target', 'fail') ? 'failed' : 'ready',
      variables: original?.variables ?? {},
      invalidations: [],
      settings: (original && withoutUncopied(original.settings)) ?? settings,
      redirects: original?.redirects ?? [],
      access: [],
      primary: false,
    });
    const bundle = source && deployments.currentBundle(source);
    if (bundle) await deployments.deploy(site, {bundle, createdBy: user});
  }

  /** @throws HttpFailure 409 while a target is made or deleted: nothing can be deployed to it. */
  verifyReady(site: SiteName): void {
    const record = this.record(site);
    if (!record) return;
    const doing = record.deletedAt !== undefined ? 'deleted' : this.#isBefore(record.readyAt) ? 'created' : undefined;
    if (doing !== undefined) throw new HttpFailure(409, `The target "${site.targetSlug}" is being ${doing}.`);
  }

  /** Deletes a target with its deployments. @throws HttpFailure 404 if it does not exist. */
  remove(site: SiteName, user: string): Promise<void> {
    const {store, now, stopApp} = this.#options;
    return this.#oneAtATime(site, async () => {
      if (this.status(site) === 'deleting') return;
      if (this.record(site)?.primary === true)
        throw new HttpFailure(
          409,
          `"${site.targetSlug}" is the primary target of its project. Choose another one first.`,
        );
      await store.writeTarget({...this.#ensured(site, user), variables: {}, deletedAt: now().toISOString()});
      await store.removeDeployments(site);
      await stopApp(site);
    });
  }

  /** The variables of a target without their values, and whether it runs with them. @throws HttpFailure 404 */
  variables(site: SiteName) {
    const isPublished = this.status(site) === 'ready';
    const variables = Object.entries(this.record(site)?.variables ?? {});
    return variables.map(([name, {updatedAt, updatedBy}]) => ({name, isPublished, updatedAt, updatedBy}));
  }

  /** The variables of a target, for its server. */
  environment(site: SiteName): Readonly<Record<string, string>> {
    const variables = Object.entries(this.record(site)?.variables ?? {});
    return Object.fromEntries(variables.map(([name, {value}]) => [name, value]));
  }

  /**
   * Sets and removes variables, and publishes again what the target runs.
   * @throws HttpFailure 404 if the target does not exist, 400 for an invalid name, 409 while it is being deployed to.
   */
  change(site: SiteName, changes: VariableChanges, user: string): Promise<void> {
    const wrong = Object.keys(changes).find((name) => !variableName.test(name));
    const updated = {updatedAt: this.#options.now().toISOString(), updatedBy: user};
    const set = Object.entries(changes).flatMap(([name, {value}]) =>
      value === null ? [] : [[name, {value, ...updated}] as const],
    );
    return this.configure(site, user, true, ({variables}) => {
      if (wrong !== undefined) throw new HttpFailure(400, `"${wrong}" is not the name of a variable.`);
      const others = Object.entries(variables).filter(([name]) => !Object.hasOwn(changes, name));
      return {variables: Object.fromEntries([...others, ...set])};
    });
  }

  /**
   * Changes what is known of a target.
   * @param publishes whether what it runs is published again
   * @throws HttpFailure 404 if it does not exist, 409 while it is made, deleted or, if it publishes, deployed to.
   */
  configure(
    site: SiteName,
    user: string,
    publishes: boolean,
    change: (record: Omit<TargetRecord, 'number'>) => Partial<TargetRecord>,
  ): Promise<void> {
    const {store, deployments} = this.#options;
    return this.#oneAtATime(site, async () => {
      this.status(site);
      this.verifyReady(site);
      const record = this.#ensured(site, user);
      const changed = {...record, ...change(record)};
      const write = () => store.writeTarget(changed);
      const bundle = publishes ? deployments.currentBundle(site) : undefined;
      // What is being deployed starts with it.
      if (bundle === undefined || deployments.running(site)) return write();
      await deployments.exclusively(site, async (start) => {
        await write();
        await start({bundle, createdBy: user, route: 'deploy'});
      });
    });
  }

  /** Makes a target the primary one of its project. */
  async makePrimary(site: SiteName, user: string): Promise<void> {
    await this.configure(site, user, false, () => ({primary: true}));
    for (const other of this.list(site.projectSlug)) {
      const isOther = other.targetSlug !== site.targetSlug && this.record(other)?.primary === true;
      if (isOther) await this.configure(other, user, false, () => ({primary: false}));
    }
  }

  /** The settings of a target, as the configuration has them: all of them. */
  settings(site: SiteName): Readonly<Record<string, unknown>> {
    const standard = Object.entries(targetSettings).map(([name, row]) => [name, row.default] as const);
    const record = this.record(site);
    const own = {...record?.settings, name: record?.name ?? site.targetSlug};
    return {...Object.fromEntries(standard), region: 'us-east-1', ...own};
  }

  /** @throws HttpFailure 404 if the target does not exist. */
  invalidate(site: SiteName, pattern: string, user: string): Promise<void> {
    const {store, now} = this.#options;
    return this.#oneAtATime(site, async () => {
      this.status(site);
      const record = this.#ensured(site, user);
      const invalidation = {pattern, createdAt: now().toISOString(), createdBy: user};
      await store.writeTarget({...record, invalidations: [invalidation, ...record.invalidations].slice(0, 100)});
    });
  }

  /** Changes a target when the changes before have ended: each reads what the one before has written. */
  #oneAtATime(site: SiteName, change: () => Promise<void>): Promise<void> {
    const key = sitePath(site);
    const changed = (this.#changing.get(key) ?? Promise.resolve()).then(change);
    const ended = changed
      .catch(() => undefined)
      .then(() => {
        if (this.#changing.get(key) === ended) this.#changing.delete(key);
      });
    this.#changing.set(key, ended);
    return changed;
  }

  /** The record of a target. One that a deployment has made has none at first. */
  #ensured(site: SiteName, user: string): Omit<TargetRecord, 'number'> {
    const {store, now} = this.#options;
    const record = this.record(site);
    if (record) return record;
    const createdAt = store.deployments(site).at(-1)?.createdAt ?? now().toISOString();
    const initial = {name: site.targetSlug, createdAt, createdBy: user, readyAt: createdAt, outcome: 'ready'} as const;
    const empty = {variables: {}, invalidations: [], settings: {}, redirects: [], access: [], primary: false};
    return {...site, ...initial, ...empty};
  }

  #isBefore(time: string): boolean {
    return this.#options.now().getTime() < Date.parse(time);
  }
}

/** A target with its state at the time of the list: a moment later, it may be gone. */
export interface ListedTarget extends SiteName {
  readonly status: TargetPhase;
}

type VariableChanges = Readonly<Record<string, {readonly value: string | null}>>;

export interface NewTarget {
  readonly name: string;
  /** The slug of another target of the project. */
  readonly copyFrom?: string | undefined;
  readonly settings?: Readonly<Record<string, unknown>>;
  readonly user: string;
}

/** What a copy gets of settings: hosted services leave out the host name, the proxies and the production flag. */
function withoutUncopied({
  proxies: _,
  production: __,
  externalHost: ___,
  ...settings
}: Readonly<Record<string, unknown>>) {
  return settings;
}
