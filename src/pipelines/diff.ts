import type {DiffBundlesOptions, DiffBundlesResult} from '../operations/bundle-options.js';
import {chooseSourceBackend, describeSource, isRemote, readSource} from '../operations/bundle-source.js';
import type {OpenBackend} from '../operations/open-backend.js';
import {count} from '../text/sentence.js';
import {compareContents} from '../bundle/contents/compare-contents.js';
import {quickLook} from '../operations/call-backend.js';
import {variablesOf} from '../operations/targets/compare-target.js';
import type {PipelineHost} from './host.js';
import {runPipeline, type Step} from './run.js';

interface DiffRequest {
  readonly options: DiffBundlesOptions;
}

const resolve: Step<DiffRequest> = {
  name: 'resolve',
  title: 'Prepare',
  due: ({request: {options}}) => [options.from, options.to].some(isRemote),
  run: ({request: {options}}, host) => chooseSourceBackend(options, host),
};

/** The format of a build folder follows from the other bundle, which is read first. */
function readBundle(name: 'from' | 'to'): Step<DiffRequest> {
  return {
    name,
    title: ({request}) => `Read ${describeSource(request.options[name])}`,
    async run({request: {options}, open, compared = {}}, host) {
      const other = compared.from ?? compared.to;
      const format = other?.contents.format ?? 'v2';
      const read = await readSource(options[name], open, {...options, format}, host);
      host.outlet.title(`Read ${read.bundle.name}: ${count(read.contents.files.length, 'file')}`);
      const missingVariables = other && open && (await lackedBy(open, options));
      return {compared: {...compared, [name]: read}, missingVariables};
    },
  };
}

export async function diffBundles(options: DiffBundlesOptions, host: PipelineHost): Promise<DiffBundlesResult> {
  options.signal?.throwIfAborted();
  const reading = [readBundle('from'), readBundle('to')];
  const rows = [resolve, ...(options.from.kind === 'folder' ? reading.toReversed() : reading)];
  const {compared, missingVariables, warnings} = await runPipeline(rows, {options}, host);
  if (compared?.from === undefined || compared.to === undefined) throw new Error('The bundles were not read.');
  return {
    before: compared.from.bundle,
    after: compared.to.bundle,
    ...compareContents(compared.from.contents, compared.to.contents),
    missingVariables,
    warnings,
  };
}

/** The variables that the target lacks whose bundle is compared. It is only a note, so nothing comes of a failure. */
async function lackedBy(open: OpenBackend, {from, to, variables = []}: DiffBundlesOptions) {
  const running = [from, to].find((source) => source.kind === 'running');
  if (running === undefined || variables.length === 0 || open.backend.listVariables === undefined) return undefined;
  const own = await quickLook(open, (again) => variablesOf(again, running.targetSlug));
  return own && variables.filter((wanted) => !own.some(({name}) => name === wanted));
}
