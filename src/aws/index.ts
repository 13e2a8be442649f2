export { type AwsClients, createAwsClients } from './clients/clients.ts';
