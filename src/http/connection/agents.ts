import http from 'node:http';
import https from 'node:https';
import type {Agents} from 'got';
import type {Environment} from '../types.js';
import {withEarlyAnswers} from './early-answers.js';
import {proxyFor} from './proxy.js';

// Every request has a connection of its own. A kept one could be closed by the server at the moment an upload is sent
// through it, with an unknown outcome, or could still be busy with a body that was answered early.
const agentOptions = {keepAlive: false};

/** Makes the agents of a client: which one serves a URL depends on the proxy variables. */
export function createAgents(env: Environment): (url: URL) => Promise<Agents> {
  const direct: Agents = {
    http: withEarlyAnswers(new http.Agent(agentOptions)),
    https: withEarlyAnswers(new https.Agent(agentOptions)),
  };
  const proxied = new Map<string, Promise<Agents>>();
  return async (url) => {
    const proxy = proxyFor(url, env);
    if (proxy === undefined) return direct;
    const agents = proxied.get(proxy.href) ?? createProxyAgents(proxy);
    proxied.set(proxy.href, agents);
    return agents;
  };
}

async function createProxyAgents(proxy: URL): Promise<Agents> {
  const [{HttpProxyAgent}, {HttpsProxyAgent}] = await Promise.all([
    import('http-proxy-agent'),
    import('https-proxy-agent'),
  ]);
  return {
    http: withEarlyAnswers(new HttpProxyAgent(proxy, agentOptions)),
    // eslint-disable-next-line @typescript-eslint/no-unsafe-class-instance-assignment -- it serves https, but inherits from http.Agent
    https: withEarlyAnswers(new HttpsProxyAgent(proxy, agentOptions)),
  };
}
