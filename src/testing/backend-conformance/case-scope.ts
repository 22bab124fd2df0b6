import {randomBytes} from 'node:crypto';
import {mkdtemp, rm} from 'node:fs/promises';
// eslint-disable-next-line no-restricted-imports -- a case makes and removes the folder of its bundles itself
import {tmpdir} from 'node:os';
import path from 'node:path';
import type {Backend} from '../../backends/contract.js';
import type {ConformanceFixtures} from './fixtures.js';
import {Subject} from './subject.js';
import type {MakeTestBundle} from './test-bundle.js';

/** What a check may open. All of it ends with the case. */
export interface CaseScope {
  /** Opens a service, for `backend` or a new one. */
  open(backend?: Backend): Promise<Subject>;
  /** The service of `subject`, seen by a backend made anew, as another process would see it. */
  reopen(subject: Subject): Subject;
}

/** Runs a check in a scope of its own, and ends everything that was opened in it. */
export async function runInScope(
  createBackend: () => Backend,
  fixtures: ConformanceFixtures,
  makeTestBundle: MakeTestBundle,
  check: (scope: CaseScope) => Promise<void>,
): Promise<void> {
  const directory = await mkdtemp(path.join(tmpdir(), 'mycli-conformance-'));
  const closings: (() => void | Promise<void>)[] = [];
  let bundles = 0;
  const subjectOf = ({backend, service, projectSlug}: Pick<Subject, 'backend' | 'service' | 'projectSlug'>) =>
    new Subject({
      backend,
      service,
      projectSlug,
      fixtures,
      makeBundle: (format) => makeTestBundle(directory, {format, projectSlug, number: (bundles += 1)}),
    });
  try {
    await check({
      async open(backend = createBackend()) {
        const service = await fixtures.openService();
        closings.push(() => service.close?.());
        const projectSlug = service.projectSlug ?? `conformance-${randomBytes(4).toString('hex')}`;
        return subjectOf({backend, service, projectSlug});
      },
      reopen: ({service, projectSlug}) => subjectOf({backend: createBackend(), service, projectSlug}),
    });
  } finally {
    for (const close of closings) await close();
    await rm(directory, {recursive: true, force: true});
  }
}
