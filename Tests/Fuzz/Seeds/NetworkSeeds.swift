/// Answers of the networks, of each kind one.
enum NetworkSeeds {
    static let mastodon = answers([
        #"""
        [{"id":"3","uri":"https://social.example/users/ann/statuses/3","created_at":"2026-11-20T08:15:30.250Z",\#
        "account":{"id":"1","acct":"ann","display_name":"Ann","note":"<p>bio</p>","fields":[{"name":"a","value":"<a \#
        href=\"https://a.example\">x</a>"}],"bot":false,"locked":"true"},"content":"<p>Hi <a \#
        href=\"https://b.example/@bob\" class=\"mention\">@bob</a></p>","visibility":"public","language":"ja",\#
        "in_reply_to_id":2,"in_reply_to_account_id":"2","mentions":[{"id":"2","acct":"bob@b.example",\#
        "url":"https://b.example/@bob"}],"media_attachments":[],"poll":null,"favourited":1,"interaction_policy":{\#
        "can_reply":{"always":["public"]}}},{"id":"2","account":null}]
        """#,
        #"""
        [{"id":"9","type":"mention","created_at":"2026-11-20T08:15:30Z","status":{"id":"8",\#
        "url":"https://b.example/8","account":{"id":2,"username":"bob"},"content":"x","pleroma":{\#
        "in_reply_to_account_acct":"ann"}}},{"id":"7","type":"follow"}]
        """#,
        #"""
        {"domain":"social.example","version":"4.3.0","api_versions":{"mastodon":2},"configuration":{"statuses":{\#
        "max_characters":500,"characters_reserved_per_url":23}},"ancestors":[{"id":"1","content":"a"}]}
        """#,
        #"""
        {"access_token":"t","refresh_token":"r","expires_in":"7200","scope":"read write","client_id":"i",\#
        "client_secret":"s","scopes_supported":["read","profile"],"code_challenge_methods_supported":["S256"]}
        """#,
        #"""
        {"uri":"https://a.example/","version":"2.7.2 (compatible; Akkoma 3.10)","max_toot_chars":5000,"id":"1",\#
        "acct":"a@b"}
        """#,
    ])

    static let bluesky = answers([
        #"""
        {"feed":[{"post":{"uri":"at://did:plc:b/app.bsky.feed.post/3k","cid":"bafy1","author":{"did":"did:plc:b",\#
        "handle":"b.example","displayName":"B","labels":[{"val":"!no-unauthenticated","src":"did:plc:b"}],"viewer":{\#
        "blockedBy":false}},"record":{"text":"see https://e.x…","createdAt":"2026-11-20T08:15:30.250Z",\#
        "langs":["ja"],"facets":[{"index":{"byteStart":4,"byteEnd":18},"features":[{\#
        "$type":"app.bsky.richtext.facet#link","uri":"https://e.example/"},{\#
        "$type":"app.bsky.richtext.facet#mention","did":"did:plc:c"}]}]},"indexedAt":"2026-11-20T08:15:31Z",\#
        "viewer":{"like":"x"},"labels":[]},"reason":{"$type":"app.bsky.feed.defs#reasonRepost","by":{\#
        "did":"did:plc:d"},"indexedAt":"2026-11-20T09:15:31Z"}},5],"cursor":"c"}
        """#,
        #"""
        {"records":[{"uri":"at://did:plc:a/app.bsky.feed.post/3kabcdefghij2","cid":"bafy","value":{"text":"a",\#
        "reply":{"root":{"uri":"at://did:plc:b/app.bsky.feed.post/3k","cid":"b"},"parent":{\#
        "uri":"at://did:plc:b/app.bsky.feed.post/3l","cid":"b"}},"embed":{"$type":"app.bsky.embed.images"},\#
        "labels":{"values":[{"val":"porn"}]}}},{"uri":"at://did:plc:a/app.bsky.feed.like/3l","cid":"b","value":{\#
        "subject":{"uri":"at://did:plc:b/app.bsky.feed.post/3k","cid":"b"}}}]}
        """#,
        #"""
        {"notifications":[{"uri":"at://did:plc:b/app.bsky.feed.post/3m","cid":"b","author":{"did":"did:plc:b"},\#
        "reason":"reply","record":{"text":"yo","reply":{"parent":{"uri":"at://did:plc:a/app.bsky.feed.post/3k",\#
        "cid":"c"}}},"indexedAt":"2026-11-20T08:15:31Z"}]}
        """#,
        ##"""
        {"id":"did:plc:a","alsoKnownAs":["at://a.example"],"service":[{"id":"#atproto_pds",\##
        "serviceEndpoint":"https://pds.example"}],"posts":[{"uri":"at://x"}]}
        """##,
        #"[[[[[[[[[[[[[[[[{"a":[1,2.5,null,true,"x",{"b":[]}]}]]]]]]]]]]]]]]]]"#,
    ])

    static let x = answers([
        #"""
        {"data":[{"id":"1900000000000000001","text":"@me hi https://t.co/a","author_id":"2",\#
        "created_at":"2026-11-20T08:15:30.000Z","conversation_id":"19","in_reply_to_user_id":"1",\#
        "referenced_tweets":[{"type":"replied_to","id":"19"}],"entities":{"urls":[{"url":"https://t.co/a",\#
        "expanded_url":"https://a.example/"}],"mentions":[{"id":"1"}]},"lang":"en","possibly_sensitive":false,\#
        "reply_settings":"mentionedUsers","edit_history_tweet_ids":["1900000000000000000"]},{"id":"5","note_tweet":{\#
        "text":"long &amp; longer"},"author_id":"1","attachments":{"media_keys":["3_1"]}}],"includes":{"users":[{\#
        "id":"2","username":"bob","name":"Bob","description":"x https://t.co/b","entities":{"description":{"urls":[{\#
        "url":"https://t.co/b","expanded_url":"https://b.example"}]}},"protected":false}],"tweets":[{"id":"19"}]},\#
        "meta":{"next_token":"n","result_count":2},"errors":[{"resource_type":"tweet",\#
        "type":"https://api.x.com/2/problems/resource-not-found"}]}
        """#,
        #"{"data":{"id":"7","text":"done","edit_history_tweet_ids":["7"],"deleted":true}}"#,
        #"{"meta":{"result_count":0}}"#,
    ])

    private static func answers(_ bodies: [String]) -> [[UInt8]] {
        bodies.map {
            Array(
                ("HTTP/1.1 200 OK\r\nLink: <https://a.example/?max_id=1>; rel=\"next\"\r\n\r\n" + $0)
                    .utf8)
        }
    }
}
