export type { AnswerParts, DashboardInfo, Kept, PlayerNow, PlayerState } from './answers.ts';
export { ApiError } from './api-error.ts';
export { type DashboardOptions, type DashboardServer, type Scene, serveDashboard } from './dashboard-server.ts';
export { documentAt } from './documents.ts';
export { LiveView } from './live-view.ts';
export { Token } from './token.ts';
export { Usage, type UsageView } from './usage.ts';
export { type DayCompared, type Finding, WhatIfs } from './what-if.ts';
export { readManifests } from './what-if-changes.ts';
