import type { Environment } from './rule.js';

/** Variables with which LangChain sends each prompt and answer to LangSmith, or writes it to standard output. */
const SWITCHES = [
  'LANGSMITH_TRACING',
  'LANGSMITH_TRACING_V2',
  'LANGCHAIN_TRACING',
  'LANGCHAIN_TRACING_V2',
  'LANGCHAIN_VERBOSE',
];
/** With it, requests to a model take a way through LangSmith. */
const GATEWAY = 'LANGSMITH_GATEWAY';

/** The variables of the environment that let LangChain pass on what it is asked. It reads them itself, at every call. */
export function reportingVariables(env: Environment): string[] {
  const isOn = (name: string) => !['', 'false', '0', 'no'].includes(env[name]?.toLowerCase() ?? '');
  return [...SWITCHES, GATEWAY].filter(isOn);
}
