import {parseFault, type FaultRule, type RouteName} from './faults.js';

/** A fault that changes how a request is answered. */
export type AnswerFault = Exclude<FaultRule, {readonly action: 'latency' | 'fail'}>;

/** The faults that are left, in the order in which they were added. */
export class FaultBook {
  #entries: {readonly rule: FaultRule; left: number}[] = [];

  /** @throws RuntimeCliError `ERR_OPTION_INVALID` for a bad text. */
  add(rule: string | FaultRule): void {
    const parsed = typeof rule === 'string' ? parseFault(rule) : rule;
    this.#entries.push({rule: parsed, left: parsed.count ?? Infinity});
  }

  clear(): void {
    this.#entries = [];
  }

  /** Milliseconds that a request has to wait: of the first latency for its route. */
  takeLatency(route: RouteName | undefined): number {
    const rule = this.#take((rule) => rule.action === 'latency' && meets(rule, route));
    return rule?.action === 'latency' ? rule.milliseconds : 0;
  }

  /** The fault that a request meets. */
  takeAnswerFault(route: RouteName | undefined): AnswerFault | undefined {
    const rule = this.#take((rule) => isAnswerFault(rule) && meets(rule, route));
    return rule && isAnswerFault(rule) ? rule : undefined;
  }

  /** Whether the deployment that a request of `route` asks for is to end as failed. */
  takeFailure(route: 'upload' | 'deploy'): boolean {
    return this.#take((rule) => rule.action === 'fail' && meets(rule, route)) !== undefined;
  }

  #take(wanted: (rule: FaultRule) => boolean): FaultRule | undefined {
    const entry = this.#entries.find(({rule, left}) => left > 0 && wanted(rule));
    if (entry) entry.left -= 1;
    return entry?.rule;
  }
}

function isAnswerFault(rule: FaultRule): rule is AnswerFault {
  return rule.action !== 'latency' && rule.action !== 'fail';
}

function meets(rule: FaultRule, route: RouteName | undefined): boolean {
  return rule.route === undefined || rule.route === route;
}
