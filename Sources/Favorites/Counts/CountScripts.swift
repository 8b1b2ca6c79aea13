import Redis

/// The scripts that change counts in Redis, each atomically.
enum CountScripts {
    /// Applies a batch if the counts contain exactly the batches before it.
    ///
    /// Keys: categories, favorite features, normal features. Arguments: the stamp's field,
    /// sequence, extraction, the previous sequence; then for each key the number of fields that
    /// grow by one (most do) with these fields, and the number of all others with as many pairs of
    /// field and amount.
    ///
    /// Returns `applied`, `known` if the counts are as new or newer, or `rebuild`. Counts that are
    /// newer because the database lost its last batches are reported as known too: readers notice
    /// that their stamp is not that of the examples. Redis does not roll back a script, so if a
    /// field to increase holds no number, all stamps are removed: the counts then are unusable
    /// until they are rebuilt.
    static let apply = RedisScript(
        """
        local field = ARGV[1]
        local stamp
        for index = 1, 3 do
            if redis.call('TYPE', KEYS[index]).ok ~= 'hash' then return 'rebuild' end
            local found = redis.call('HGET', KEYS[index], field)
            if not found or (stamp and stamp ~= found) then return 'rebuild' end
            stamp = found
        end
        local sequence, extraction = string.match(stamp, '^(%d+):(%d+)$')
        if not sequence or extraction ~= ARGV[3] then return 'rebuild' end
        if tonumber(sequence) >= tonumber(ARGV[2]) then return 'known' end
        if sequence ~= ARGV[4] then return 'rebuild' end

        local damaged = false
        local pcall = redis.pcall
        local function add(key, name, amount)
            local count = pcall('HINCRBY', key, name, amount)
            if type(count) ~= 'number' or count < 0 then
                damaged = true
            elseif count == 0 then
                redis.call('HDEL', key, name)
            end
        end
        local position = 5
        for index = 1, 3 do
            local key = KEYS[index]
            local ones_end = position + tonumber(ARGV[position])
            for one = position + 1, ones_end do add(key, ARGV[one], '1') end
            position = ones_end + 1
            local others_end = position + 2 * tonumber(ARGV[position])
            for other = position + 1, others_end, 2 do add(key, ARGV[other], ARGV[other + 1]) end
            position = others_end + 1
        end
        if damaged then
            for index = 1, 3 do redis.call('HDEL', KEYS[index], field) end
            return 'rebuild'
        end
        local fields = 0
        for index = 1, 3 do fields = fields + redis.call('HLEN', KEYS[index]) end
        if fields == 3 then
            redis.call('UNLINK', KEYS[1], KEYS[2], KEYS[3])
        else
            for index = 1, 3 do redis.call('HSET', KEYS[index], field, ARGV[2] .. ':' .. ARGV[3]) end
        end
        return 'applied'
        """)

    /// A function of ``observe`` and ``replace`` that returns the stamp of a key, or reports that
    /// the key is missing, is not a hash, or has no stamp.
    private static let observation = """
        local function observed(key, field)
            local kind = redis.call('TYPE', key).ok
            if kind == 'none' then return 'none' end
            if kind ~= 'hash' then return 'not a hash' end
            return redis.call('HGET', key, field) or 'no stamp'
        end

        """

    /// Returns the stamps of the present counts.
    ///
    /// Keys: those of ``CountKeys/all``. Argument: the stamp's field. Returns a text for each key.
    static let observe = RedisScript(
        observation
            + """
            local answer = {}
            for index = 1, 3 do answer[index] = observed(KEYS[index], ARGV[1]) end
            return answer
            """)

    /// Replaces the counts that were observed before by those that were built under temporary keys.
    ///
    /// Keys: those of ``CountKeys/all``, then the three temporary ones. Arguments: the stamp's
    /// field, the three observations, and the number of fields that each temporary hash must have,
    /// all 0 if there is nothing to count. Returns `replaced`, `moved` if the counts are no longer
    /// as observed, or `incomplete` if a temporary key was lost.
    static let replace = RedisScript(
        observation
            + """
            for index = 1, 3 do
                if observed(KEYS[index], ARGV[1]) ~= ARGV[1 + index] then return 'moved' end
            end
            if tonumber(ARGV[5]) == 0 then
                redis.call('UNLINK', KEYS[1], KEYS[2], KEYS[3])
                return 'replaced'
            end
            for index = 1, 3 do
                if redis.call('HLEN', KEYS[3 + index]) ~= tonumber(ARGV[4 + index]) then return 'incomplete' end
            end
            for index = 1, 3 do
                redis.call('RENAME', KEYS[3 + index], KEYS[index])
                redis.call('PERSIST', KEYS[index])
            end
            return 'replaced'
            """)
}
