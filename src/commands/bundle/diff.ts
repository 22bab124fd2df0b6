import {relative, resolve} from 'node:path';
import type {BundleSource} from '../../operations/bundle-options.js';
import {Args, BaseCommand, Flags, type CommandContext} from '../../cli/command/base-command.js';
import {bundleOptions, missingBuild, requireTogether} from '../../cli/command/operation-options.js';
import {refuseOtherProject} from '../../cli/settings/config-file.js';
import {withPushFolder} from '../../cli/setup/push-folder.js';
import {wantedVariables} from '../../cli/setup/variable-values.js';
import {withConfiguredTarget, type Settings} from '../../cli/settings/settings.js';
import {bundleFlags, flagsOf} from '../../cli/command/flags.js';
import {createError, exitCodes} from '../../errors/index.js';

/** The folders to compare are arguments. */
const {'build-directory': _, message: __, ...contentFlags} = bundleFlags;
const sources = 'archive, build folder, bundle ID, latest or running:TARGET (running: is the configured target)';

export default class BundleDiff extends BaseCommand<typeof BundleDiff, 'bundle:diff'> {
  static override readonly aliases = ['diff'];
  static override readonly summary =
    'Compare two bundles: files added, removed and changed, and the difference in size.';
  static override readonly description =
    'Compares the digests of the files. An argument that exists, or contains a slash or a dot, is a ' +
    'path. If a file is named like the ID of a bundle, pass bundle:ID for the bundle. A folder is packed as for a ' +
    'build, an uploaded bundle is downloaded to a temporary folder. The exit code is 0 even if the bundles differ, unless you ' +
    'pass --exit-code.';
  static override readonly examples = [
    '<%= config.bin %> <%= command.id %> old.tar.gz new.tar.gz',
    '<%= config.bin %> <%= command.id %> running:production --project my-shop',
    '<%= config.bin %> <%= command.id %> 41 42 --project my-shop --exit-code',
    '<%= config.bin %> <%= command.id %> release.tar.gz build --markdown',
  ];
  static override readonly args = {
    before: Args.string({required: true, description: `The bundle before: ${sources}.`}),
    after: Args.string({description: `The bundle after: ${sources}; default: the build that a push would send.`}),
  };
  static override readonly flags = {
    ...flagsOf('connection', 'rateLimit', 'events'),
    ...contentFlags,
    limit: Flags.integer({
      min: 1,
      default: 20,
      helpValue: 'N',
      summary: 'Show at most this many files, those with the largest difference; --json has all.',
    }),
    markdown: Flags.boolean({summary: 'Print Markdown, for a comment on a pull request.', exclusive: ['json']}),
    'exit-code': Flags.boolean({summary: `Exit with ${String(exitCodes.mismatch)} if the bundles differ.`}),
  };

  protected async execute(context: CommandContext) {
    const {limit, markdown, 'exit-code': tellsDifference} = this.flags;
    const {bundleSourceIn, isRemote} = await import('../../operations/bundle-source.js');
    const {cwd, signal} = context;
    const {before, after} = this.args;
    const loaded = await context.loadSettings();
    let settings = after === undefined ? await pushFolder(loaded, before, context) : loaded;
    const sourceOf = (text: string): Promise<BundleSource> => bundleSourceIn(withConfiguredTarget(text, loaded), cwd);
    const from = await sourceOf(before);
    const to =
      after === undefined
        ? ({kind: 'folder', path: relative(cwd, settings.buildDirectory.value) || '.'} as const)
        : await sourceOf(after);
    const folder = [to, from].find(({kind}) => kind === 'folder');
    if (after !== undefined && folder?.kind === 'folder') {
      const command = folder === to ? ['bundle:diff', before] : [];
      settings = await withPushFolder(loaded, folder.path, {cwd, output: context.output, command});
    }
    const {buildDirectory, message, ...content} = await bundleOptions(settings);
    const running = [from, to].find((source) => source.kind === 'running');
    const target = running?.kind === 'running' ? running.targetSlug : undefined;
    const variables = target === undefined ? [] : await wantedVariables(await context.settingsOf(target, 'running'));
    const local = {...content, from, to, variables, signal, cwd, projectSlug: settings.projectSlug?.value};
    const {diffBundles} = await import('../../pipelines/diff.js');
    const {renderDiff} = await import('../../cli/output/render-diff.js');
    const diff = async () => {
      if (![from, to].some((source) => isRemote(source))) return diffBundles(local, context.host());
      const {options, host} = await this.reach(context, ['projectSlug'], {settings});
      return diffBundles({...local, ...options}, host);
    };
    const result = await diff();
    if (tellsDifference && !result.identical) context.session.exitCode = exitCodes.mismatch;
    return renderDiff(result, {limit, markdown, target}, context.output);
  }
}

async function pushFolder(settings: Settings, before: string, context: CommandContext): Promise<Settings> {
  const {cwd, output, configFile} = context;
  refuseOtherProject(configFile);
  const command = ['bundle:diff', before];
  const found = await withPushFolder(settings, undefined, {cwd, output, command});
  if (resolve(cwd, before) === found.buildDirectory.value) {
    const message = `${before} is the build that a push would send: it would be compared with itself.`;
    const run = ['bundle:diff', settings.targetSlug === undefined ? 'running:TARGET' : 'running:'];
    throw createError('ERR_USAGE', message, {
      suggestions: [['To compare it with what a target runs, run ', {run, again: true}]],
    });
  }
  const places = {cwd, shell: context.session.cwd, project: found.projectDirectory.value, command};
  requireTogether(await missingBuild(found.buildDirectory.value, places));
  return found;
}
