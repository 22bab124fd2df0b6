import {Flags} from '../oclif.js';

const helpGroup = 'GLOBAL';

/** Flags of every command. */
export const globalFlags = {
  json: Flags.boolean({helpGroup, summary: 'Print one JSON document on stdout, and nothing else there.'}),
  cwd: Flags.string({char: 'C', helpGroup, helpValue: 'DIR', summary: 'Run as if started in this folder.'}),
  config: Flags.string({helpGroup, helpValue: 'FILE', summary: 'Configuration file; found by itself when omitted.'}),
  debug: Flags.boolean({helpGroup, summary: 'Say on stderr what is done, with stacks of errors (or DEBUG=mycli*).'}),
  quiet: Flags.boolean({helpGroup, summary: 'No progress and no remarks: results, warnings and errors only.'}),
};
