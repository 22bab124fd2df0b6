import type {Config, Interfaces} from '@oclif/core';
import {CommandHelp, Help} from '../oclif.js';

type Render = (text: string) => string;

/** oclif compiles every line of help as a template, a hundred of them for one command. Few are one. */
function renderTemplates(render: Render): Render {
  return (text) => (/<%|%>/.test(text) ? render(text) : text);
}

class QuickCommandHelp extends CommandHelp {
  constructor(...args: ConstructorParameters<typeof CommandHelp>) {
    super(...args);
    this.render = renderTemplates(this.render);
  }
}

/** oclif's help, to the byte, in less time. */
export class QuickHelp extends Help {
  override CommandHelpClass = QuickCommandHelp;

  constructor(config: Config, options?: Partial<Interfaces.HelpOptions>) {
    super(config, options);
    this.render = renderTemplates(this.render);
  }
}
