import {resolve} from 'node:path';
import {Args, BaseCommand, Flags, type CommandContext} from '../../cli/command/base-command.js';
import {flagsOf} from '../../cli/command/flags.js';
import {withConfiguredTarget} from '../../cli/settings/settings.js';
import {createError} from '../../errors/index.js';

export default class BundleDownload extends BaseCommand<typeof BundleDownload, 'bundle:download'> {
  static override readonly aliases = ['download'];
  static override readonly changes = 'machine';
  static override readonly summary = 'Download the archive of a bundle.';
  static override readonly description =
    'The file is only written once it is complete and readable. An interrupted download is kept as FILE.part, and the next ' +
    'one resumes from it if the server supports it.';
  static override readonly examples = [
    '<%= config.bin %> <%= command.id %> 42 --project my-shop',
    '<%= config.bin %> <%= command.id %> 42 --project my-shop --output before.tar.gz --force',
  ];
  static override readonly args = {
    bundle: Args.string({required: true, description: 'ID of an uploaded bundle, latest or running:TARGET.'}),
  };
  static override readonly flags = {
    ...flagsOf('connection', 'rateLimit', 'events'),
    output: Flags.string({
      char: 'o',
      helpValue: 'FILE',
      summary: 'File to write; default bundle-ID.tar.gz, or bundle-ID.tar for v1.',
    }),
    force: Flags.boolean({summary: 'Overwrite an existing file.'}),
  };

  protected async execute(context: CommandContext) {
    const {output, force} = this.flags;
    if (output === '-') {
      const message = 'A download cannot be written to stdout, because it is checked before its file appears.';
      throw createError('ERR_USAGE', message, {suggestions: ['Pass --output FILE.']});
    }
    const {settings, options, host} = await this.reach(context, ['projectSlug']);
    const {downloadBundle} = await import('../../pipelines/read.js');
    const {verifyOutside} = await import('../../operations/build-bundle.js');
    const {cwd} = context;
    const {buildDirectory, projectDirectory, ignore} = settings;
    const path = resolve(cwd, output ?? 'bundle.tar.gz');
    await verifyOutside(path, resolve(cwd, buildDirectory.value), projectDirectory.value, ignore?.value);
    const result = await downloadBundle(
      {...options, bundleId: withConfiguredTarget(this.args.bundle, settings), output, force, cwd},
      host,
    );
    context.output.result(result.path);
    context.output.result(`sha256 ${result.sha256}`);
    context.output.info(
      result.verified
        ? 'The digest is the expected one.'
        : 'The digest was not verified: the backend reports none, and there is no manifest next to the file.',
    );
    return result;
  }
}
