graph [
  name "exodus"
  description "Exodus AS3967, Rocketfuel (Spring et al., 2004; weights of Mahajan et al., 2002)"
  node [
    id 0
    label "San Jose 471"
    place "San Jose"
    region "US-CA"
    published_index 0
    Latitude 37.33939
    Longitude -121.89496
  ]
  node [
    id 1
    label "Santa Clara 444"
    place "Santa Clara"
    region "US-CA"
    published_index 1
    Latitude 37.35411
    Longitude -121.95524
  ]
  node [
    id 2
    label "Santa Clara 389"
    place "Santa Clara"
    region "US-CA"
    published_index 2
    Latitude 37.35411
    Longitude -121.95524
  ]
  node [
    id 3
    label "San Jose 472"
    place "San Jose"
    region "US-CA"
    published_index 3
    Latitude 37.33939
    Longitude -121.89496
  ]
  node [
    id 4
    label "Oak Brook 301"
    place "Oak Brook"
    region "US-IL"
    published_index 4
    Latitude 41.83281
    Longitude -87.92895
  ]
  node [
    id 5
    label "Santa Clara 430"
    place "Santa Clara"
    region "US-CA"
    published_index 5
    Latitude 37.35411
    Longitude -121.95524
  ]
  node [
    id 6
    label "Santa Clara 431"
    place "Santa Clara"
    region "US-CA"
    published_index 6
    Latitude 37.35411
    Longitude -121.95524
  ]
  node [
    id 7
    label "Weehawken 543"
    place "Weehawken"
    region "US-NJ"
    published_index 7
    Latitude 40.76955
    Longitude -74.02042
  ]
  node [
    id 8
    label "New York 293"
    place "New York City"
    region "US-NY"
    published_index 8
    Latitude 40.71427
    Longitude -74.00597
  ]
  node [
    id 9
    label "Atlanta 127"
    place "Atlanta"
    region "US-GA"
    published_index 9
    Latitude 33.749
    Longitude -84.38798
  ]
  node [
    id 10
    label "New York 294"
    place "New York City"
    region "US-NY"
    published_index 10
    Latitude 40.71427
    Longitude -74.00597
  ]
  node [
    id 11
    label "Weehawken 544"
    place "Weehawken"
    region "US-NJ"
    published_index 11
    Latitude 40.76955
    Longitude -74.02042
  ]
  node [
    id 12
    label "Weehawken 552"
    place "Weehawken"
    region "US-NJ"
    published_index 12
    Latitude 40.76955
    Longitude -74.02042
  ]
  node [
    id 13
    label "Oak Brook 300"
    place "Oak Brook"
    region "US-IL"
    published_index 13
    Latitude 41.83281
    Longitude -87.92895
  ]
  node [
    id 14
    label "Jersey City 244"
    place "Jersey City"
    region "US-NJ"
    published_index 14
    Latitude 40.72816
    Longitude -74.07764
  ]
  node [
    id 15
    label "Oak Brook 307"
    place "Oak Brook"
    region "US-IL"
    published_index 15
    Latitude 41.83281
    Longitude -87.92895
  ]
  node [
    id 16
    label "Oak Brook 315"
    place "Oak Brook"
    region "US-IL"
    published_index 16
    Latitude 41.83281
    Longitude -87.92895
  ]
  node [
    id 17
    label "Herndon 193"
    place "Herndon"
    region "US-VA"
    published_index 17
    Latitude 38.96955
    Longitude -77.3861
  ]
  node [
    id 18
    label "Herndon 496"
    place "Herndon"
    region "US-VA"
    published_index 18
    Latitude 38.96955
    Longitude -77.3861
  ]
  node [
    id 19
    label "Atlanta 126"
    place "Atlanta"
    region "US-GA"
    published_index 19
    Latitude 33.749
    Longitude -84.38798
  ]
  node [
    id 20
    label "Jersey City 245"
    place "Jersey City"
    region "US-NJ"
    published_index 20
    Latitude 40.72816
    Longitude -74.07764
  ]
  node [
    id 21
    label "London 274"
    place "London"
    region "GB"
    published_index 21
    Latitude 51.50853
    Longitude -0.12574
  ]
  node [
    id 22
    label "London 275"
    place "London"
    region "GB"
    published_index 22
    Latitude 51.50853
    Longitude -0.12574
  ]
  node [
    id 23
    label "London 276"
    place "London"
    region "GB"
    published_index 23
    Latitude 51.50853
    Longitude -0.12574
  ]
  node [
    id 24
    label "Herndon 495"
    place "Herndon"
    region "US-VA"
    published_index 24
    Latitude 38.96955
    Longitude -77.3861
  ]
  node [
    id 25
    label "Oak Brook 308"
    place "Oak Brook"
    region "US-IL"
    published_index 25
    Latitude 41.83281
    Longitude -87.92895
  ]
  node [
    id 26
    label "Toronto 537"
    place "Toronto"
    region "CA"
    published_index 26
    Latitude 43.70643
    Longitude -79.39864
  ]
  node [
    id 27
    label "Waltham 555"
    place "Waltham"
    region "US-MA"
    published_index 27
    Latitude 42.37649
    Longitude -71.23561
  ]
  node [
    id 28
    label "Oak Brook 309"
    place "Oak Brook"
    region "US-IL"
    published_index 28
    Latitude 41.83281
    Longitude -87.92895
  ]
  node [
    id 29
    label "Toronto 538"
    place "Toronto"
    region "CA"
    published_index 29
    Latitude 43.70643
    Longitude -79.39864
  ]
  node [
    id 30
    label "Palo Alto 317"
    place "Palo Alto"
    region "US-CA"
    published_index 30
    Latitude 37.44188
    Longitude -122.14302
  ]
  node [
    id 31
    label "Santa Clara 388"
    place "Santa Clara"
    region "US-CA"
    published_index 31
    Latitude 37.35411
    Longitude -121.95524
  ]
  node [
    id 32
    label "Palo Alto 104"
    place "Palo Alto"
    region "US-CA"
    published_index 32
    Latitude 37.44188
    Longitude -122.14302
  ]
  node [
    id 33
    label "Santa Clara 336"
    place "Santa Clara"
    region "US-CA"
    published_index 33
    Latitude 37.35411
    Longitude -121.95524
  ]
  node [
    id 34
    label "Palo Alto 318"
    place "Palo Alto"
    region "US-CA"
    published_index 34
    Latitude 37.44188
    Longitude -122.14302
  ]
  node [
    id 35
    label "Santa Clara 363"
    place "Santa Clara"
    region "US-CA"
    published_index 35
    Latitude 37.35411
    Longitude -121.95524
  ]
  node [
    id 36
    label "Santa Clara 364"
    place "Santa Clara"
    region "US-CA"
    published_index 36
    Latitude 37.35411
    Longitude -121.95524
  ]
  node [
    id 37
    label "Amsterdam 119"
    place "Amsterdam"
    region "NL"
    published_index 37
    Latitude 52.37403
    Longitude 4.88969
  ]
  node [
    id 38
    label "Frankfurt 185"
    place "Frankfurt am Main"
    region "DE"
    published_index 38
    Latitude 50.11552
    Longitude 8.68417
  ]
  node [
    id 39
    label "Tukwila 508"
    place "Tukwila"
    region "US-WA"
    published_index 39
    Latitude 47.47399
    Longitude -122.26096
  ]
  node [
    id 40
    label "Tukwila 509"
    place "Tukwila"
    region "US-WA"
    published_index 40
    Latitude 47.47399
    Longitude -122.26096
  ]
  node [
    id 41
    label "Santa Clara 429"
    place "Santa Clara"
    region "US-CA"
    published_index 41
    Latitude 37.35411
    Longitude -121.95524
  ]
  node [
    id 42
    label "Chicago 155"
    place "Chicago"
    region "US-IL"
    published_index 42
    Latitude 41.85003
    Longitude -87.65005
  ]
  node [
    id 43
    label "Oak Brook 310"
    place "Oak Brook"
    region "US-IL"
    published_index 43
    Latitude 41.83281
    Longitude -87.92895
  ]
  node [
    id 44
    label "San Jose 460"
    place "San Jose"
    region "US-CA"
    published_index 44
    Latitude 37.33939
    Longitude -121.89496
  ]
  node [
    id 45
    label "Santa Clara 365"
    place "Santa Clara"
    region "US-CA"
    published_index 45
    Latitude 37.35411
    Longitude -121.95524
  ]
  node [
    id 46
    label "Santa Clara 403"
    place "Santa Clara"
    region "US-CA"
    published_index 46
    Latitude 37.35411
    Longitude -121.95524
  ]
  node [
    id 47
    label "Santa Clara 443"
    place "Santa Clara"
    region "US-CA"
    published_index 47
    Latitude 37.35411
    Longitude -121.95524
  ]
  node [
    id 48
    label "Chicago 156"
    place "Chicago"
    region "US-IL"
    published_index 48
    Latitude 41.85003
    Longitude -87.65005
  ]
  node [
    id 49
    label "Fort Worth 189"
    place "Fort Worth"
    region "US-TX"
    published_index 49
    Latitude 32.72541
    Longitude -97.32085
  ]
  node [
    id 50
    label "Irvine 228"
    place "Irvine"
    region "US-CA"
    published_index 50
    Latitude 33.66946
    Longitude -117.82311
  ]
  node [
    id 51
    label "Austin 137"
    place "Austin"
    region "US-TX"
    published_index 51
    Latitude 30.26715
    Longitude -97.74306
  ]
  node [
    id 52
    label "Fort Worth 190"
    place "Fort Worth"
    region "US-TX"
    published_index 52
    Latitude 32.72541
    Longitude -97.32085
  ]
  node [
    id 53
    label "Fort Worth 191"
    place "Fort Worth"
    region "US-TX"
    published_index 53
    Latitude 32.72541
    Longitude -97.32085
  ]
  node [
    id 54
    label "Herndon 208"
    place "Herndon"
    region "US-VA"
    published_index 54
    Latitude 38.96955
    Longitude -77.3861
  ]
  node [
    id 55
    label "Jersey City 261"
    place "Jersey City"
    region "US-NJ"
    published_index 55
    Latitude 40.72816
    Longitude -74.07764
  ]
  node [
    id 56
    label "Frankfurt 184"
    place "Frankfurt am Main"
    region "DE"
    published_index 56
    Latitude 50.11552
    Longitude 8.68417
  ]
  node [
    id 57
    label "Waltham 568"
    place "Waltham"
    region "US-MA"
    published_index 57
    Latitude 42.37649
    Longitude -71.23561
  ]
  node [
    id 58
    label "London 277"
    place "London"
    region "GB"
    published_index 58
    Latitude 51.50853
    Longitude -0.12574
  ]
  node [
    id 59
    label "Waltham 569"
    place "Waltham"
    region "US-MA"
    published_index 59
    Latitude 42.37649
    Longitude -71.23561
  ]
  node [
    id 60
    label "Irvine 212"
    place "Irvine"
    region "US-CA"
    published_index 60
    Latitude 33.66946
    Longitude -117.82311
  ]
  node [
    id 61
    label "El Segundo 163"
    place "El Segundo"
    region "US-CA"
    published_index 61
    Latitude 33.91918
    Longitude -118.41647
  ]
  node [
    id 62
    label "Tokyo 525"
    place "Tokyo"
    region "JP"
    published_index 62
    Latitude 35.6895
    Longitude 139.69171
  ]
  node [
    id 63
    label "Santa Clara 404"
    place "Santa Clara"
    region "US-CA"
    published_index 63
    Latitude 37.35411
    Longitude -121.95524
  ]
  node [
    id 64
    label "Tokyo 526"
    place "Tokyo"
    region "JP"
    published_index 64
    Latitude 35.6895
    Longitude 139.69171
  ]
  node [
    id 65
    label "Irvine 213"
    place "Irvine"
    region "US-CA"
    published_index 65
    Latitude 33.66946
    Longitude -117.82311
  ]
  node [
    id 66
    label "El Segundo 164"
    place "El Segundo"
    region "US-CA"
    published_index 66
    Latitude 33.91918
    Longitude -118.41647
  ]
  node [
    id 67
    label "Waltham 556"
    place "Waltham"
    region "US-MA"
    published_index 67
    Latitude 42.37649
    Longitude -71.23561
  ]
  node [
    id 68
    label "Herndon 206"
    place "Herndon"
    region "US-VA"
    published_index 68
    Latitude 38.96955
    Longitude -77.3861
  ]
  node [
    id 69
    label "San Jose 459"
    place "San Jose"
    region "US-CA"
    published_index 69
    Latitude 37.33939
    Longitude -121.89496
  ]
  node [
    id 70
    label "Atlanta 133"
    place "Atlanta"
    region "US-GA"
    published_index 70
    Latitude 33.749
    Longitude -84.38798
  ]
  node [
    id 71
    label "Miami 285"
    place "Miami"
    region "US-FL"
    published_index 71
    Latitude 25.77427
    Longitude -80.19366
  ]
  node [
    id 72
    label "Miami 286"
    place "Miami"
    region "US-FL"
    published_index 72
    Latitude 25.77427
    Longitude -80.19366
  ]
  node [
    id 73
    label "Irvine 229"
    place "Irvine"
    region "US-CA"
    published_index 73
    Latitude 33.66946
    Longitude -117.82311
  ]
  node [
    id 74
    label "Austin 136"
    place "Austin"
    region "US-TX"
    published_index 74
    Latitude 30.26715
    Longitude -97.74306
  ]
  node [
    id 75
    label "Irvine 237"
    place "Irvine"
    region "US-CA"
    published_index 75
    Latitude 33.66946
    Longitude -117.82311
  ]
  node [
    id 76
    label "Irvine 230"
    place "Irvine"
    region "US-CA"
    published_index 76
    Latitude 33.66946
    Longitude -117.82311
  ]
  node [
    id 77
    label "Irvine 231"
    place "Irvine"
    region "US-CA"
    published_index 77
    Latitude 33.66946
    Longitude -117.82311
  ]
  node [
    id 78
    label "Santa Clara 405"
    place "Santa Clara"
    region "US-CA"
    published_index 78
    Latitude 37.35411
    Longitude -121.95524
  ]
  edge [
    source 0
    target 1
    distance 5.585420600579836
    published_distance 21.537793763270834
  ]
  edge [
    source 0
    target 2
    distance 5.585420600579836
    published_distance 21.537793763270834
  ]
  edge [
    source 0
    target 3
    distance 0.0
    published_distance 0.0
  ]
  edge [
    source 0
    target 4
    distance 2940.5647672182054
    published_distance 2938.933275120972
  ]
  edge [
    source 1
    target 32
    distance 19.270448440963737
    published_distance 48.184319463938344
  ]
  edge [
    source 1
    target 46
    distance 0.0
    published_distance 0.0
  ]
  edge [
    source 1
    target 63
    distance 0.0
    published_distance 0.0
  ]
  edge [
    source 1
    target 47
    distance 0.0
    published_distance 0.0
  ]
  edge [
    source 2
    target 3
    distance 5.585420600579836
    published_distance 21.537793763270834
  ]
  edge [
    source 2
    target 31
    distance 0.0
    published_distance 0.0
  ]
  edge [
    source 2
    target 47
    distance 0.0
    published_distance 0.0
  ]
  edge [
    source 2
    target 46
    distance 0.0
    published_distance 0.0
  ]
  edge [
    source 3
    target 5
    distance 5.585420600579836
    published_distance 21.537793763270834
  ]
  edge [
    source 3
    target 6
    distance 5.585420600579836
    published_distance 21.537793763270834
  ]
  edge [
    source 4
    target 15
    distance 0.0
    published_distance 0.0
  ]
  edge [
    source 4
    target 25
    distance 0.0
    published_distance 0.0
  ]
  edge [
    source 4
    target 28
    distance 0.0
    published_distance 0.0
  ]
  edge [
    source 4
    target 43
    distance 0.0
    published_distance 0.0
  ]
  edge [
    source 4
    target 16
    distance 0.0
    published_distance 0.0
  ]
  edge [
    source 4
    target 42
    distance 23.24317584722275
    published_distance 27.00556289816714
  ]
  edge [
    source 4
    target 13
    distance 0.0
    published_distance 0.0
  ]
  edge [
    source 5
    target 31
    distance 0.0
    published_distance 0.0
  ]
  edge [
    source 5
    target 41
    distance 0.0
    published_distance 0.0
  ]
  edge [
    source 5
    target 63
    distance 0.0
    published_distance 0.0
  ]
  edge [
    source 5
    target 36
    distance 0.0
    published_distance 0.0
  ]
  edge [
    source 5
    target 33
    distance 0.0
    published_distance 0.0
  ]
  edge [
    source 5
    target 47
    distance 0.0
    published_distance 0.0
  ]
  edge [
    source 6
    target 41
    distance 0.0
    published_distance 0.0
  ]
  edge [
    source 6
    target 35
    distance 0.0
    published_distance 0.0
  ]
  edge [
    source 6
    target 36
    distance 0.0
    published_distance 0.0
  ]
  edge [
    source 6
    target 45
    distance 0.0
    published_distance 0.0
  ]
  edge [
    source 6
    target 47
    distance 0.0
    published_distance 0.0
  ]
  edge [
    source 7
    target 8
    distance 6.258933907087283
    published_distance 6.425732317424714
  ]
  edge [
    source 7
    target 9
    distance 1203.8165140289454
    published_distance 1203.9574941353012
  ]
  edge [
    source 7
    target 10
    distance 6.258933907087283
    published_distance 6.425732317424714
  ]
  edge [
    source 7
    target 11
    distance 0.0
    published_distance 0.0
  ]
  edge [
    source 7
    target 12
    distance 0.0
    published_distance 0.0
  ]
  edge [
    source 7
    target 13
    distance 1169.5252763984765
    published_distance 1170.914370720661
  ]
  edge [
    source 7
    target 14
    distance 6.669232173479573
    published_distance 6.669339377524074
  ]
  edge [
    source 8
    target 11
    distance 6.258933907087283
    published_distance 6.425732317424714
  ]
  edge [
    source 8
    target 68
    distance 348.13155216438895
    published_distance 2269.2782581877664
  ]
  edge [
    source 8
    target 54
    distance 348.13155216438895
    published_distance 2269.2782581877664
  ]
  edge [
    source 8
    target 71
    distance 1753.2284965033803
    published_distance 1753.067653062323
  ]
  edge [
    source 8
    target 10
    distance 0.0
    published_distance 0.0
  ]
  edge [
    source 9
    target 17
    distance 854.1876844479466
    published_distance 1611.1460879143733
  ]
  edge [
    source 9
    target 19
    distance 0.0
    published_distance 0.0
  ]
  edge [
    source 9
    target 72
    distance 972.3468436269721
    published_distance 972.4458573042972
  ]
  edge [
    source 9
    target 52
    distance 1209.903491762764
    published_distance 1210.3280637929627
  ]
  edge [
    source 9
    target 70
    distance 0.0
    published_distance 0.0
  ]
  edge [
    source 10
    target 20
    distance 6.2486721111964245
    published_distance 6.2895817337946
  ]
  edge [
    source 11
    target 20
    distance 6.669232173479573
    published_distance 6.669339377524074
  ]
  edge [
    source 11
    target 21
    distance 5582.335561236949
    published_distance 5582.252582938819
  ]
  edge [
    source 11
    target 22
    distance 5582.335561236949
    published_distance 5582.252582938819
  ]
  edge [
    source 11
    target 23
    distance 5582.335561236949
    published_distance 5582.252582938819
  ]
  edge [
    source 11
    target 12
    distance 0.0
    published_distance 0.0
  ]
  edge [
    source 11
    target 24
    distance 350.47121447824986
    published_distance 2267.3580821797736
  ]
  edge [
    source 12
    target 13
    distance 1169.5252763984765
    published_distance 1170.914370720661
  ]
  edge [
    source 13
    target 15
    distance 0.0
    published_distance 0.0
  ]
  edge [
    source 13
    target 25
    distance 0.0
    published_distance 0.0
  ]
  edge [
    source 13
    target 28
    distance 0.0
    published_distance 0.0
  ]
  edge [
    source 13
    target 29
    distance 728.1357270220985
    published_distance 729.0712676804624
  ]
  edge [
    source 13
    target 43
    distance 0.0
    published_distance 0.0
  ]
  edge [
    source 13
    target 16
    distance 0.0
    published_distance 0.0
  ]
  edge [
    source 13
    target 48
    distance 23.24317584722275
    published_distance 27.00556289816714
  ]
  edge [
    source 13
    target 27
    distance 1379.8868662470397
    published_distance 1381.174513925828
  ]
  edge [
    source 13
    target 67
    distance 1379.8868662470397
    published_distance 1381.174513925828
  ]
  edge [
    source 14
    target 55
    distance 0.0
    published_distance 0.0
  ]
  edge [
    source 14
    target 56
    distance 6222.954247484018
    published_distance 6223.046038446504
  ]
  edge [
    source 14
    target 20
    distance 0.0
    published_distance 0.0
  ]
  edge [
    source 14
    target 57
    distance 299.52779401602714
    published_distance 299.45906745292376
  ]
  edge [
    source 14
    target 58
    distance 5588.981236262523
    published_distance 5588.898377174292
  ]
  edge [
    source 14
    target 59
    distance 299.52779401602714
    published_distance 299.45906745292376
  ]
  edge [
    source 15
    target 16
    distance 0.0
    published_distance 0.0
  ]
  edge [
    source 16
    target 25
    distance 0.0
    published_distance 0.0
  ]
  edge [
    source 17
    target 18
    distance 0.0
    published_distance 0.0
  ]
  edge [
    source 17
    target 19
    distance 854.1876844479466
    published_distance 1611.1460879143733
  ]
  edge [
    source 18
    target 24
    distance 0.0
    published_distance 0.0
  ]
  edge [
    source 18
    target 41
    distance 3870.8467113969105
    published_distance 1841.007885775286
  ]
  edge [
    source 19
    target 70
    distance 0.0
    published_distance 0.0
  ]
  edge [
    source 20
    target 55
    distance 0.0
    published_distance 0.0
  ]
  edge [
    source 20
    target 21
    distance 5588.981236262523
    published_distance 5588.898377174292
  ]
  edge [
    source 20
    target 22
    distance 5588.981236262523
    published_distance 5588.898377174292
  ]
  edge [
    source 20
    target 23
    distance 5588.981236262523
    published_distance 5588.898377174292
  ]
  edge [
    source 21
    target 37
    distance 358.00785256161964
    published_distance 358.40050051031875
  ]
  edge [
    source 22
    target 37
    distance 358.00785256161964
    published_distance 358.40050051031875
  ]
  edge [
    source 24
    target 54
    distance 0.0
    published_distance 0.0
  ]
  edge [
    source 26
    target 27
    distance 681.0760030177186
    published_distance 678.9461063101284
  ]
  edge [
    source 27
    target 67
    distance 0.0
    published_distance 0.0
  ]
  edge [
    source 27
    target 57
    distance 0.0
    published_distance 0.0
  ]
  edge [
    source 30
    target 31
    distance 19.270448440963737
    published_distance 48.184319463938344
  ]
  edge [
    source 30
    target 32
    distance 0.0
    published_distance 0.0
  ]
  edge [
    source 30
    target 33
    distance 19.270448440963737
    published_distance 48.184319463938344
  ]
  edge [
    source 30
    target 34
    distance 0.0
    published_distance 0.0
  ]
  edge [
    source 31
    target 44
    distance 5.585420600579836
    published_distance 21.537793763270834
  ]
  edge [
    source 32
    target 45
    distance 19.270448440963737
    published_distance 48.184319463938344
  ]
  edge [
    source 32
    target 46
    distance 19.270448440963737
    published_distance 48.184319463938344
  ]
  edge [
    source 33
    target 64
    distance 8349.51974531201
    published_distance 8372.352046117057
  ]
  edge [
    source 34
    target 35
    distance 19.270448440963737
    published_distance 48.184319463938344
  ]
  edge [
    source 34
    target 36
    distance 19.270448440963737
    published_distance 48.184319463938344
  ]
  edge [
    source 37
    target 38
    distance 365.06312782252746
    published_distance 365.048785326527
  ]
  edge [
    source 39
    target 40
    distance 0.0
    published_distance 0.0
  ]
  edge [
    source 39
    target 41
    distance 1124.4116700202549
    published_distance 1137.2519514894134
  ]
  edge [
    source 39
    target 42
    distance 2790.5171405483725
    published_distance 2790.880213832251
  ]
  edge [
    source 40
    target 42
    distance 2790.5171405483725
    published_distance 2790.880213832251
  ]
  edge [
    source 41
    target 69
    distance 5.585420600579836
    published_distance 21.537793763270834
  ]
  edge [
    source 41
    target 46
    distance 0.0
    published_distance 0.0
  ]
  edge [
    source 42
    target 48
    distance 0.0
    published_distance 0.0
  ]
  edge [
    source 44
    target 64
    distance 8354.869440025965
    published_distance 8350.824242318486
  ]
  edge [
    source 44
    target 69
    distance 0.0
    published_distance 0.0
  ]
  edge [
    source 44
    target 47
    distance 5.585420600579836
    published_distance 21.537793763270834
  ]
  edge [
    source 46
    target 49
    distance 2298.5397608909334
    published_distance 2271.2977577183888
  ]
  edge [
    source 46
    target 66
    distance 497.8905761203841
    published_distance 472.3550074130231
  ]
  edge [
    source 46
    target 63
    distance 0.0
    published_distance 0.0
  ]
  edge [
    source 46
    target 78
    distance 0.0
    published_distance 0.0
  ]
  edge [
    source 47
    target 66
    distance 497.8905761203841
    published_distance 472.3550074130231
  ]
  edge [
    source 47
    target 63
    distance 0.0
    published_distance 0.0
  ]
  edge [
    source 48
    target 49
    distance 1325.1512965738923
    published_distance 1326.907830021701
  ]
  edge [
    source 49
    target 50
    distance 1911.4596621780065
    published_distance 1910.0749925069567
  ]
  edge [
    source 49
    target 51
    distance 275.50205210796105
    published_distance 277.95938797159005
  ]
  edge [
    source 49
    target 52
    distance 0.0
    published_distance 0.0
  ]
  edge [
    source 49
    target 53
    distance 0.0
    published_distance 0.0
  ]
  edge [
    source 50
    target 65
    distance 0.0
    published_distance 0.0
  ]
  edge [
    source 50
    target 52
    distance 1911.4596621780065
    published_distance 1910.0749925069567
  ]
  edge [
    source 50
    target 73
    distance 0.0
    published_distance 0.0
  ]
  edge [
    source 50
    target 75
    distance 0.0
    published_distance 0.0
  ]
  edge [
    source 50
    target 76
    distance 0.0
    published_distance 0.0
  ]
  edge [
    source 50
    target 77
    distance 0.0
    published_distance 0.0
  ]
  edge [
    source 51
    target 61
    distance 1989.4330040883383
    published_distance 1989.1422544880543
  ]
  edge [
    source 52
    target 73
    distance 1911.4596621780065
    published_distance 1910.0749925069567
  ]
  edge [
    source 52
    target 74
    distance 275.50205210796105
    published_distance 277.95938797159005
  ]
  edge [
    source 52
    target 53
    distance 0.0
    published_distance 0.0
  ]
  edge [
    source 54
    target 68
    distance 0.0
    published_distance 0.0
  ]
  edge [
    source 57
    target 59
    distance 0.0
    published_distance 0.0
  ]
  edge [
    source 59
    target 67
    distance 0.0
    published_distance 0.0
  ]
  edge [
    source 60
    target 61
    distance 61.5354240966816
    published_distance 60.329676358720185
  ]
  edge [
    source 61
    target 63
    distance 497.8905761203841
    published_distance 472.3550074130231
  ]
  edge [
    source 61
    target 78
    distance 497.8905761203841
    published_distance 472.3550074130231
  ]
  edge [
    source 61
    target 66
    distance 0.0
    published_distance 0.0
  ]
  edge [
    source 62
    target 63
    distance 8349.51974531201
    published_distance 8372.352046117057
  ]
  edge [
    source 62
    target 64
    distance 0.0
    published_distance 0.0
  ]
  edge [
    source 63
    target 65
    distance 554.5246315887487
    published_distance 526.782306621641
  ]
  edge [
    source 65
    target 66
    distance 61.5354240966816
    published_distance 60.329676358720185
  ]
  edge [
    source 66
    target 73
    distance 61.5354240966816
    published_distance 60.329676358720185
  ]
  edge [
    source 66
    target 76
    distance 61.5354240966816
    published_distance 60.329676358720185
  ]
  edge [
    source 66
    target 77
    distance 61.5354240966816
    published_distance 60.329676358720185
  ]
  edge [
    source 71
    target 72
    distance 0.0
    published_distance 0.0
  ]
  edge [
    source 75
    target 77
    distance 0.0
    published_distance 0.0
  ]
]
