/// Small archives of every kind.
enum ArchiveSeeds {
    static let x = [
        #"""
        === data/account.js
        window.YTD.account.part0 = [ {"account":{"username":"Haruka","accountId":"4242"}} ]
        === data/account-timezone.js
        window.YTD.account_timezone.part0 = [ {"accountTimezone":{"timeZone":"Tokyo"}} ]
        === data/note-tweet.js
        window.YTD.note_tweet.part0 = [ {"noteTweet":{"createdAt":"2023-02-18T12:33:11.000Z","core":{"text":"a long \#
        text that goes on and on","urls":[{"shortUrl":"https://t.co/b","expandedUrl":"https://b.example"}]}}} ]
        === data/deleted-tweets.js
        window.YTD.deleted_tweets.part0 = [ {"tweet":{"id_str":"7"}} ]
        === data/tweets.js
        window.YTD.tweets.part0 = [ {"tweet":{"id_str":"1626923851400000001","full_text":"a long text that goes… \#
        https://t.co/a","created_at":"Sat Feb 18 12:33:11 +0000 2023","lang":"ja","entities":{"urls":[{\#
        "url":"https://t.co/a","expanded_url":"https://a.example/"}],"user_mentions":[{"id_str":"9","indices":["0",\#
        "3"]}]},"in_reply_to_user_id_str":"9"}},
        {"tweet":{"id_str":"7","full_text":"RT @a: b","created_at":"2010-11-03 12:33:11 +0000"}} ]
        """#,
        #"""
        === data/manifest.js
        window.__THAR_CONFIG = {"userInfo":{"accountId":"1","userName":"A"},"dataTypes":{"tweets":{"files":[{\#
        "fileName":"data/tweets-part1.js"}]}}}
        === data/like.js
        window.YTD.like.part0 = [ {"like":{"tweetId":"20","fullText":"nice &amp; good"}}, {"like":{"tweetId":"x"}} ]
        === data/js/user_details.js
        var user_details = {"id":"5","screen_name":"old"}
        === data/js/tweets/2013_05.js
        Grailbird.data.tweets_2013_05 = [ {"id":1,"id_str":"335000000000000000","text":"old",\#
        "created_at":"2013-05-16 12:33:11 +0000"} ]
        """#,
        #"""
        === data/manifest.js
        window.__THAR_CONFIG = {"archiveInfo":{"isPartialArchive":true}}
        === data/note-tweet.js
        window.YTD.note_tweet.part0 = [ {"noteTweet":{"createdAt":"2022-11-23T19:30:00.000Z","core":{"text":"salt & \#
        pepper and so on to the end"}}} ]
        === data/tweets.js
        window.YTD.tweets.part0 = [ {"tweet":{"id_str":"20","full_text":"salt &amp; pepper and s\ud83d…",\#
        "created_at":"Wed Nov 23 19:30:00 +0000 2022","edit_info":{"initial":{"editTweetIds":["20","21"]}}}},
        {"tweet":{"id_str":"21","full_text":"b","created_at":"Wed Nov 23 19:30:00 +0000 2022","edit_info":{"edit":{\#
        "initialTweetId":"20","editControlInitial":{"editTweetIds":["20","21"]}}}}} ]
        === data/community-tweet.js
        window.YTD.community_tweet.part0 = [ {"tweet":{"id_str":"22","full_text":"c",\#
        "created_at":"Wed Nov 23 19:30:00 +0000 2022"}} ]
        === data/like.js
        window.YTD.like.part0 = [ {"like":{"tweetId":"9","fullText":"This Post is unavailable. {learnmore}"}} ]
        """#,
        #"""
        === tweets.csv
        "tweet_id","in_reply_to_status_id","in_reply_to_user_id","timestamp","source","text","retweeted_status_id",\#
        "retweeted_status_user_id","retweeted_status_timestamp","expanded_urls"
        "892420643555336193","","","2017-08-01 16:23:56 +0000","<a href=""x"">App</a>","a &amp; b https://t.co/a",\#
        "","","","https://twitter.com/me/status/892420643555336193/photo/1"
        """#,
    ]

    static let statuses = [
        #"""
        === social.example.user.ann.json
        {"account":{"id":17,"acct":"ann"},"statuses":[{"id":101,"uri":"https://social.example/users/ann/statuses/101",\#
        "account":{"id":17,"acct":"ann","url":"https://social.example/@ann"},"content":"<p>Hi <a \#
        href=\"https://b.example/@bob\">@bob</a></p>","created_at":"2017-04-05T12:33:11+00:00","visibility":"public",\#
        "reblog":null,"in_reply_to_id":100,"in_reply_to_account_id":17,"mentions":[{"id":3,"acct":"bob@b.example",\#
        "url":"https://b.example/@bob"}],"media_attachments":[{"type":"image","url":"https://f.example/1.png"}]}],\#
        "favourites":[{"id":9,"uri":"https://b.example/9","account":{"acct":"bob@b.example","note":"<p>x</p>"},\#
        "content":"<p>ships</p>","created_at":"2017-04-05T12:33:11","visibility":"unlisted"}]}
        """#,
        #"""
        === pixelfed-statuses.json
        [{"_v":1,"id":"1","uri":"https://p.example/p/ann/1","in_reply_to_id":"","content":"a\nb","content_text":"a\nb",\#
        "created_at":"2021-05-01T10:00:00.000Z","visibility":"public","pf_type":"photo","account":{"username":"ann",\#
        "url":"https://p.example/ann"}}
        ,
        {"_v":1,"pf_type":"share"}]
        """#,
    ]

    static let notes = [
        #"""
        === notes-2023-01-31-12-00-00.json
        [{"id":"9a","text":"$[x2 hello] <b>you</b>","createdAt":"2023-01-31T12:00:00.000Z","fileIds":["f"],"files":[{\#
        "type":"image/png","url":"https://mk.example/1.png","properties":{"width":4,"height":3}}],"replyId":null,\#
        "renoteId":null,"poll":null,"cw":null,"visibility":"public","visibleUserIds":[],"localOnly":false},
        {"id":"9b","text":"@bob@b.example yes","createdAt":"2023-01-31T12:00:00.000Z","fileIds":[],"replyId":"9a",\#
        "renoteId":"9c","poll":{"choices":["a"]},"cw":"w","visibility":"home"}]
        """#
    ]

    static let mastodon = [
        #"""
        === actor.json
        {"id":"https://social.example/users/Haruka","preferredUsername":"Haruka",\#
        "followers":"https://social.example/users/Haruka/followers"}
        === outbox.json
        {"type":"OrderedCollection","orderedItems":[{"type":"Create","actor":"https://social.example/users/Haruka",\#
        "published":"2023-02-18T12:33:11Z","to":["https://www.w3.org/ns/activitystreams#Public"],"cc":[],"object":{\#
        "id":"https://social.example/users/Haruka/statuses/1","type":"Note","content":"<p>Hi <a \#
        href=\"https://b.example/@bob\" class=\"u-url mention\">@bob</a></p>","contentMap":{"ja":"<p>Hi</p>"},\#
        "published":"2023-02-18T12:33:11Z","attributedTo":"https://social.example/users/Haruka","to":"as:Public",\#
        "tag":[{"type":"Mention","href":"https://b.example/users/bob","name":"@bob@b.example"}],\#
        "inReplyTo":"https://b.example/users/bob/statuses/2","attachment":[{}]}},
        {"type":"Announce","object":"https://b.example/3"},{"type":"Question",\#
        "id":"https://social.example/objects/4","content":"?","oneOf":[]}]}
        === likes.json
        {"orderedItems":["https://b.example/users/bob/statuses/2",5]}
        """#
    ]

    static let bluesky = [
        #"""
        {"records":[{"uri":"at://did:plc:abc/app.bsky.feed.post/3k","cid":"bafy","value":{"text":"see example.org",\#
        "createdAt":"2026-11-20T08:15:30.250Z","langs":["ja"],"facets":[{"index":{"byteStart":4,"byteEnd":15},\#
        "features":[{"$type":"app.bsky.richtext.facet#link","uri":"https://example.org/"}]}],"reply":{"parent":{\#
        "uri":"at://did:plc:x/app.bsky.feed.post/3j"}},"labels":{"values":[{"val":"porn"}]}}}],"cursor":"c"}
        """#,
        #"{"uri":"at://did:plc:abc/app.bsky.feed.like/3k","value":{}}"# + "\n"
            + #"{"uri":"at://did:plc:abc/app.bsky.feed.repost/3k","value":{"embed":{"$type":"app.bsky.embed.images"}}}"#,
    ]

    static let lines = [
        #"""
        {"id":"1","author":"ann","text":"hello","created_at":"2026-11-20T08:15:30+09:00","favorite":true,\#
        "language":"en"}
        """#
            + "\n"
            + #"{"id":"2","author":"@bob@b.example","text":"x\u0000y","created_at":"1970-01-01T00:00:00Z","favorite":false,"#
            + #""reply_to_author":"ann","reply_to_post":"1","visibility":"direct"}"# + "\r\n\n",
        "\u{FEFF}" + #"{"id":"1","id":"2","text":""}"#,
    ]
}
