import {warnOfIncompleteApi} from '../../cli/settings/connection-options.js';
import {explainSettings} from '../../cli/settings/load-settings.js';
import {loadWantedBackends} from '../../cli/settings/load-backends.js';
import {Args, BaseCommand, type CommandContext} from '../../cli/command/base-command.js';
import {columnsFlag, flagsOf, usualSets} from '../../cli/command/flags.js';

export default class ConfigShow extends BaseCommand<typeof ConfigShow, 'config:show'> {
  static override readonly summary = 'Show every setting with its value, source and overridden values.';
  static override readonly description =
    'Accepts the flags of the other commands and shows how they would resolve. Each setting comes from the first of: ' +
    'flags, environment, configuration file, stored credentials, defaults. Secrets are masked. Columns: name, value, ' +
    'source (with what it overrode) and, only if requested, flag.';
  static override readonly examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> --target staging --columns "name,value"',
    '<%= config.bin %> <%= command.id %> origin --json',
  ];
  static override readonly args = {
    setting: Args.string({description: 'Key or flag of one setting, such as origin; default: all.'}),
  };
  static override readonly flags = {...flagsOf(...usualSets), ...columnsFlag};

  protected async execute(context: CommandContext) {
    const {renderSettings} = await import('../../cli/output/render-lists.js');
    const explained = await explainSettings(context, this.args.setting);
    warnOfIncompleteApi(context, explained.resolved);
    // A plugin's backend declares its secret options, which are masked from here on.
    await loadWantedBackends(context, explained.resolved);
    const {safetyOf} = await import('../../operations/guard/safety.js');
    const shown = {cwd: context.cwd, names: this.flags.columns};
    return renderSettings(explained, safetyOf(context.session), shown, context.output);
  }
}
