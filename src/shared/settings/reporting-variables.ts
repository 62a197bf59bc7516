import type { Environment } from './rule.js';

/** Variables with which LangChain sends each prompt and answer to LangSmith, or writes it to standard output. */
const SWITCHES = [
  'LANGSMITH_TRACING',
  'LANGSMITH_TRACING_V2',
  'LANGCHAIN_TRACING',
  'LANGCHAIN_TRACING_V2',
  'LANGCHAIN_VERBOSE',
];
/** The variable by which requests to a model take a way through LangSmith. */
const GATEWAY = 'LANGSMITH_GATEWAY';

/** Returns the variables of the environment that let LangChain pass its requests on. It reads them itself, at every call. */
export function reportingVariables(env: Environment): string[] {
  const isOn = (name: string) => !['', 'false', '0', 'no'].includes(env[name]?.toLowerCase() ?? '');
  return [...SWITCHES, GATEWAY].filter(isOn);
}
