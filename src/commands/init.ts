import {relative} from 'node:path';
import {BaseCommand, Flags, type CommandContext} from '../cli/command/base-command.js';
import {bundleFlags, connectionFlags, flagsOf} from '../cli/command/flags.js';
import {isAttended} from '../cli/setup/prompts.js';
import {planProject, refuseExistingConfig, writeProject} from '../cli/setup/plan-project.js';
import {shellLine} from '../text/suggest.js';

export default class Init extends BaseCommand<typeof Init, 'init'> {
  static override readonly changes = 'machine';
  static override readonly summary = 'Set up a project: write a configuration and store credentials.';
  static override readonly description =
    'Detects the framework and its build folder, asks for what no flag or environment variable sets, checks and ' +
    'stores credentials like auth:login, and writes mycli.config.ts. If a tsconfig of the project would include that ' +
    'file, writes mycli.config.mjs or .json instead. Offers to import what other clients have stored: --yes imports ' +
    'only the project and the target, --import everything. The file never contains secrets. Without a terminal, in ' +
    'CI or with --yes, nothing is asked, and the project is named after its package or its folder.';
  static override readonly examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> --yes --project my-shop --origin https://runtime.example',
    '<%= config.bin %> <%= command.id %> -y -p my-shop --origin https://runtime.example --api-key @key.txt',
  ];
  static override readonly flags = {
    project: connectionFlags.project,
    target: connectionFlags.target,
    'runtime-backend': connectionFlags['runtime-backend'],
    'backend-option': connectionFlags['backend-option'],
    origin: connectionFlags.origin,
    'api-key': connectionFlags['api-key'],
    'api-origin': connectionFlags['api-origin'],
    organization: connectionFlags.organization,
    ...flagsOf('login'),
    'client-secret': connectionFlags['client-secret'],
    'api-token': connectionFlags['api-token'],
    'build-directory': bundleFlags['build-directory'],
    static: bundleFlags.static,
    yes: Flags.boolean({char: 'y', summary: 'Skip the questions: use flags, variables, detected values and defaults.'}),
    import: Flags.boolean({summary: 'Import everything that other clients have stored, including secrets.'}),
    force: Flags.boolean({summary: 'Replace the configuration.'}),
    verify: Flags.boolean({default: true, allowNo: true, summary: 'Check the credentials before storing them.'}),
  };

  protected async execute(context: CommandContext) {
    const {output, cwd} = context;
    const {force, yes, verify} = this.flags;
    const asks = !yes && isAttended(context);
    const mode = this.flags.import ? 'all' : asks ? 'ask' : 'names';
    if (!force) await refuseExistingConfig(cwd);
    const settings = await context.loadSettings();
    const plan = await planProject(context, settings, {asks, verify, mode});
    const file = await writeProject(context, plan, force);
    output.outcome(`Wrote ${relative(cwd, file)}.`);
    const {problem} = plan;
    if (problem) output.warn(problem.message, problem.advice);
    const deploys = plan.config.targetSlug !== undefined;
    const push = {run: ['bundle:push', ...plan.pushArguments, ...(deploys ? ['--wait'] : [])]};
    const {cwd: folder} = this.flags;
    const enters = folder !== undefined && plan.buildSteps.length > 0;
    if (enters) output.completeHints({folder: ''});
    const next = [
      ...(enters ? [shellLine('cd', folder)] : []),
      ...plan.buildSteps,
      ...(plan.hasCredentials ? [] : [{run: ['auth:login']}]),
      problem ? {run: ['doctor']} : push,
    ];
    output.outcome(plan.canBuild ? 'Next:' : 'Once the application is built, run:');
    for (const command of next) output.outcome(['  ', command], '    ');
    if (!deploys && !problem && plan.canDeploy) {
      const deploy = {run: ['bundle:push', ...plan.pushArguments, '--target', 'production', '--wait']};
      output.outcome(['This uploads without deploying. To deploy to a target called production as well, run ', deploy]);
    }
    return {
      file,
      config: plan.config,
      framework: plan.framework,
      stored: plan.stored ?? null,
      next: output.texts(next.map((command) => [command])),
    };
  }
}
