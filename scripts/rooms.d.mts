export const rooms: { room: string; imports: string[]; typesOf?: string[]; why: string }[];
