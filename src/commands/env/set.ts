import {Args, BaseCommand, Flags, type CommandContext} from '../../cli/command/base-command.js';
import {dryRunFlag, flagsOf} from '../../cli/command/flags.js';
import {targetWait} from '../../cli/command/operation-options.js';
import {readVariables} from '../../cli/setup/variable-values.js';
import {createError} from '../../errors/index.js';

export default class EnvSet extends BaseCommand<typeof EnvSet, 'env:set'> {
  static override readonly changes = 'service';
  static override readonly summary = 'Set environment variables of a target.';
  static override readonly description =
    'Sets them in one request and keeps all others. Runtime then publishes the target again, which --wait ' +
    'waits for. Values are never printed. Read secrets from a file or stdin: others can see command lines in the ' +
    'process list.';
  static override readonly examples = [
    '<%= config.bin %> <%= command.id %> --from .env --project my-shop --target staging --wait',
    '<%= config.bin %> <%= command.id %> API_KEY=@key.txt --project my-shop --target staging',
    '<%= config.bin %> <%= command.id %> API_KEY=- -p my-shop -t staging < key.txt',
  ];
  static override readonly args = {
    variable: Args.string({
      multiple: true,
      description: 'NAME=VALUE, NAME=@FILE to read the value from a file, or NAME=- to read it from stdin.',
    }),
  };
  static override readonly flags = {
    ...flagsOf('connection', 'wait', 'rateLimit', 'events'),
    ...dryRunFlag,
    from: Flags.string({
      helpValue: 'FILE',
      summary: 'Set the variables of this dotenv file, except MYCLI_*, MRT_* and SFCC_*; - is stdin.',
    }),
    'exclude-prefix': Flags.string({
      multiple: true,
      multipleNonGreedy: true,
      dependsOn: ['from'],
      helpValue: 'PREFIX',
      summary: 'Skip variables of the file with this prefix, such as DEV_; repeatable.',
    }),
  };

  protected async execute(context: CommandContext) {
    const {variable: pairs = []} = this.args;
    const {from, 'exclude-prefix': excluded = [], 'dry-run': dryRun} = this.flags;
    if (pairs.length === 0 && from === undefined) {
      throw createError('ERR_USAGE', 'No variables specified.', {suggestions: ['Pass NAME=@FILE, or --from FILE.']});
    }
    const settings = await context.loadSettings();
    const set = await readVariables(pairs, {from, excluded}, context);
    const {options, host, guards} = await this.reach(context, ['projectSlug', 'targetSlug'], {settings});
    const {targetChanges} = await import('../../operations/targets/changes.js');
    const {changeTarget} = await import('../../pipelines/targets.js');
    const {renderChangedVariables} = await import('../../cli/output/render-targets.js');
    const wait = targetWait(settings, false);
    const change = {...options, ...guards, ...wait, set, dryRun};
    const result = await changeTarget(targetChanges.setVariables)(change, host);
    return renderChangedVariables(result, {waited: wait.wait}, context.output);
  }
}
