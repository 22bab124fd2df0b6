import {BaseCommand, type CommandContext} from '../cli/command/base-command.js';
import {connectionFlags} from '../cli/command/flags.js';
import {reportChecks, runChecks} from '../cli/setup/doctor.js';

export default class Doctor extends BaseCommand<typeof Doctor, 'doctor'> {
  static override readonly summary = 'Check what a push depends on.';
  static override readonly description =
    'Checks Node.js, the configuration, the build, the credentials (by asking the services), whether the target is ' +
    'new or lacks variables that the project asks for, proxies, certificate authorities and plugins, and says how to ' +
    'repair what is broken. Exits with 3 if a check fails. Never shows secrets. To check the files of the build, ' +
    'run mycli push --dry-run.';
  static override readonly examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> --json',
  ];
  static override readonly flags = connectionFlags;

  protected async execute(context: CommandContext) {
    const checks = await runChecks(context, await import('../pipelines/targets.js'));
    reportChecks(checks, context.output);
    return {checks};
  }
}
