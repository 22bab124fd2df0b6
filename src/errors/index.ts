export type {CommandToRun, RunSetting, Suggestion} from './suggestion.js';
export {messageOf, outputError, reasonOf, systemCode} from './system-failure.js';
export {catalogue, exitCodes, signalExitCodes, type ErrorCode} from './catalogue.js';
export * from './runtime-cli-error.js';
