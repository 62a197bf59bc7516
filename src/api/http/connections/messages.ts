import { IncomingMessage, ServerResponse } from 'node:http';
import express, { type Express } from 'express';

/** The classes that a server makes its requests and responses of. */
export interface Messages {
  readonly IncomingMessage: typeof IncomingMessage;
  readonly ServerResponse: typeof ServerResponse;
  /** Makes them the messages of this application. To be called once, before it handles a request. */
  readonly serve: (app: Express) => void;
}

/**
 * Makes classes whose objects have the methods of Express from the beginning. Express gives each request and response
 * another prototype, and from then on V8 looks up all their properties slowly: in Express, in Node.js and here. That takes
 * longer than everything else that Express does. With objects that have the right prototype already, it changes nothing.
 */
export function createMessages(): Messages {
  class ApiRequest extends IncomingMessage {}
  class ApiResponse<From extends IncomingMessage = IncomingMessage> extends ServerResponse<From> {}
  Object.setPrototypeOf(ApiRequest.prototype, express.request);
  Object.setPrototypeOf(ApiResponse.prototype, express.response);
  return {
    IncomingMessage: ApiRequest,
    ServerResponse: ApiResponse,
    serve: (app) => {
      Object.defineProperty(ApiRequest.prototype, 'app', { value: app });
      Object.defineProperty(ApiResponse.prototype, 'app', { value: app });
      Object.assign(app, { request: ApiRequest.prototype, response: ApiResponse.prototype });
    },
  };
}
